/** Compares the settings of a file with those of its site. */
import { toColumns, toMembers } from '../../members/member.ts';
import { nameKey } from '../../store/patient-identity.ts';
import type { SiteFileWrite } from '../../store/site-apply.ts';
import { parseMembers } from '../api/parse.ts';
import { SITE_MEMBERS } from '../settings/record.ts';
import { webhookProblem } from '../settings/save.ts';
import { siteChange } from '../settings/site.ts';
import { SECRET_SETTINGS, type SiteFile } from './file.ts';
import { differing, type Part, type PlanDeps, under } from './part.ts';
import type { PlannedItem, PlannedMember, Unmentioned } from './planned.ts';
import type { SiteState } from './state.ts';

/** An address without its path, which may be a secret. */
export const withoutPath = (value: unknown): unknown =>
  typeof value === 'string' && URL.canParse(value) ? `${new URL(value).origin}/…` : value;

const shownMember = (planned: PlannedMember): PlannedMember =>
  SECRET_SETTINGS.has(planned.member)
    ? { ...planned, before: withoutPath(planned.before), after: withoutPath(planned.after) }
    : planned;

/** The tables of names, whose entries a file can add and change but never remove. */
const TABLES = [
  ['assigningAuthorities', 'assigning_authorities', 'assigning authority'],
  ['codeSystems', 'code_systems', 'code system'],
] as const;

const tableOf = (members: Readonly<Record<string, unknown>>, name: string): Map<string, readonly [string, string]> => {
  const rows = Array.isArray(members[name]) ? members[name] : [];
  return new Map(
    rows.map((row: object) => {
      const { system = '', ...label }: Readonly<Record<string, string>> = { ...row };
      const [text = ''] = Object.values(label);
      return [nameKey(text), [text, system]];
    }),
  );
};

type UnmentionedNames = Pick<Unmentioned, 'assigningAuthorities' | 'codeSystems'>;

/** The change of the settings, and the stored names that the file leaves out. */
export async function planSettings(
  deps: PlanDeps,
  state: SiteState,
  given: SiteFile['settings'],
): Promise<Part & { readonly unmentioned: UnmentionedNames }> {
  const unmentioned: Record<keyof UnmentionedNames, string[]> = { assigningAuthorities: [], codeSystems: [] };
  if (given === undefined) return { changes: [], issues: [], warnings: [], unmentioned };
  const { data, issues } = parseMembers(siteChange, given, 'the settings');
  const read = toColumns(SITE_MEMBERS, data);
  const stored = toMembers(SITE_MEMBERS, state.settings);
  const warnings: string[] = [];
  const tables: Record<string, Record<string, string>> = {};
  for (const [name, column, title] of TABLES) {
    if (read[column] === undefined) continue;
    const [before, after] = [tableOf(stored, name), tableOf(toMembers(SITE_MEMBERS, read), name)];
    for (const [key, [text, system]] of after) {
      const old = before.get(key)?.[1];
      if (old !== undefined && old !== system)
        warnings.push(
          `The URI of the ${title} ${text} changes. Stored data keeps ${old}, and under another URI the same value is another one.`,
        );
    }
    // An entry keeps the capitals that the site has.
    const merged = [...before].map(([key, [text, system]]) => [text, after.get(key)?.[1] ?? system] as const);
    const added = [...after].filter(([key]) => !before.has(key)).map(([, entry]) => entry);
    tables[column] = Object.fromEntries([...merged, ...added]);
    unmentioned[name] = [...before].filter(([key]) => !after.has(key)).map(([, [text]]) => text);
  }
  const { record, members } = differing<typeof read>(SITE_MEMBERS, state.settings, { ...read, ...tables });
  const located = new Set(issues.map(({ at }) => at));
  const changesWebhook = members.some(({ member }) => member === 'alertWebhook') && !located.has('alertWebhook');
  const problem = changesWebhook ? await webhookProblem(deps, given) : undefined;
  const found = problem === undefined ? issues : [...issues, { code: 'invalid', message: problem, at: 'alertWebhook' }];
  const part = { issues: under('settings', found), warnings, unmentioned };
  if (members.length === 0) return { ...part, changes: [] };
  const item: PlannedItem = {
    kind: 'settings',
    action: 'update',
    name: String(stored['name']),
    clientId: null,
    permissions: ['site.settings.update'],
    members: members.map(shownMember),
  };
  const write: SiteFileWrite = { kind: 'settings', expected: [state.settings.version], record };
  return { ...part, changes: [{ item, write }] };
}
