/**
 * Compares a file with its site: the changes that would make the site as the file says. Records that the file does not have
 * stay. The rules are those of the forms.
 */
import { Fault, type Issue } from '../../../shared/fault.ts';
import { indexBy } from '../../../shared/index-by.ts';
import { isJsonObject, type Json } from '../../../shared/json.ts';
import { publicMembersOf } from '../../../shared/oauth/jwks.ts';
import type { Database } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';
import { KEY_MEMBERS, type KeyRecord } from '../../members/api-key.ts';
import { type Members, toColumns, toMembers } from '../../members/member.ts';
import { inSite } from '../../store/in-site.ts';
import { nameKey } from '../../store/patient-identity.ts';
import type { SiteFileWrite } from '../../store/site-apply.ts';
import { parse, parseMembers } from '../api/parse.ts';
import {
  issuesOfDatabase,
  newClientId,
  permissionsOfChange,
  type PreparedKey,
  prepareKey,
  type ReadKey,
  readKeyChange,
  readNewKey,
  withJwks,
} from '../keys/keys.ts';
import { type Inspection, inspectKeys, NOT_INSPECTED, type Rules } from '../keys/rules.ts';
import type { VersionedKey } from '../keys/statements.ts';
import { type GivenAddress, toAddress } from '../settings/addresses.ts';
import { SITE_MEMBERS } from '../settings/record.ts';
import { webhookProblem } from '../settings/save.ts';
import { siteChange } from '../settings/site.ts';
import type { Actor } from '../staff/actor.ts';
import { SECRET_SETTINGS, type SiteFile, siteFile } from './file.ts';
import type { PlannedItem, PlannedMember, Unmentioned } from './planned.ts';
import { printPlan } from './print.ts';
import { readState, type SiteState } from './state.ts';

export interface PlanOptions {
  /** Disables active API keys that the file does not have. */
  readonly prune: boolean;
  /** The file is of another site or deployment: its ids are ignored, and names find the API keys. */
  readonly copy: boolean;
  /** The most JWKS URIs that one request may load. */
  readonly maxFetches: number;
}

export interface Plan {
  /** Identifies the changes, and the versions of the records that they change. */
  readonly fingerprint: string;
  readonly items: readonly PlannedItem[];
  readonly warnings: readonly string[];
  readonly unmentioned: Unmentioned;
  /** The items for people. */
  readonly diff: string;
  readonly writes: readonly SiteFileWrite[];
  /** The API keys of the file; a new one has the Client ID that its write makes. */
  readonly clientIds: readonly { readonly name: string; readonly clientId: string }[];
}

export type PlanDeps = GuardedFetching & { readonly database: Database };

interface Change {
  readonly item: PlannedItem;
  readonly write: SiteFileWrite;
}

/** A part of the plan with its issues and warnings. */
interface Part {
  readonly changes: readonly Change[];
  readonly issues: readonly Issue[];
  readonly warnings: readonly string[];
}

const under = (at: string, issues: readonly Issue[]): Issue[] =>
  issues.map((issue) => ({ ...issue, at: issue.at === undefined || issue.at === '' ? at : `${at}.${issue.at}` }));

/** JSON with the members of each object in the order of their names. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

/** The given members that differ from the stored ones. */
function differing<Row extends object>(members: Members, stored: object | null, given: Partial<Row>) {
  const after = toMembers(members, given);
  const before = stored === null ? null : toMembers(members, stored);
  const columns: Readonly<Record<string, unknown>> = { ...given };
  const names = Object.keys(members).filter((name) => {
    const column = members[name]?.column ?? '';
    return Object.hasOwn(columns, column) && (before === null || canonical(before[name]) !== canonical(after[name]));
  });
  const record = Object.fromEntries(
    names.map((name) => [members[name]?.column ?? '', columns[members[name]?.column ?? '']]),
  );
  // Only members of the given record.
  return {
    record: record as Partial<Row>,
    members: names.map((member) => ({ member, before: before?.[member] ?? null, after: after[member] ?? null })),
  };
}

/** An address without its path, which may be a secret. */
const withoutPath = (value: unknown): unknown =>
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

async function planSettings(deps: PlanDeps, state: SiteState, given: SiteFile['settings']): Promise<Part> {
  if (given === undefined) return { changes: [], issues: [], warnings: [] };
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
  }
  const { record, members } = differing<typeof read>(SITE_MEMBERS, state.settings, { ...read, ...tables });
  const located = new Set(issues.map(({ at }) => at));
  const changesWebhook = members.some(({ member }) => member === 'alertWebhook') && !located.has('alertWebhook');
  const problem = changesWebhook ? await webhookProblem(deps, given) : undefined;
  const found = problem === undefined ? issues : [...issues, { code: 'invalid', message: problem, at: 'alertWebhook' }];
  if (members.length === 0) return { changes: [], issues: under('settings', found), warnings };
  const item: PlannedItem = {
    kind: 'settings',
    action: 'update',
    name: String(stored['name']),
    clientId: null,
    permissions: ['site.settings.update'],
    members: members.map(shownMember),
  };
  const write: SiteFileWrite = { kind: 'settings', expected: [state.settings.version], record };
  return { changes: [{ item, write }], issues: under('settings', found), warnings };
}

const addressText = ({ range, application, facility, tlsSubject }: ReturnType<typeof toAddress>): string =>
  [range, application && `MSH-3 ${application}`, facility && `MSH-4 ${facility}`, tlsSubject && `TLS ${tlsSubject}`]
    .filter((part) => part !== '')
    .join(', ');

const storedAddresses = ({ addresses }: SiteState): string[] =>
  addresses.map(({ range, application, facility, tls_subject: tlsSubject }) =>
    addressText({ range, application, facility, tlsSubject }),
  );

function readAddress(given: GivenAddress): ReturnType<typeof toAddress> | string {
  try {
    return toAddress(given);
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

function planAddresses(
  state: SiteState,
  given: SiteFile['addresses'] = [],
): Part & { readonly texts: readonly string[] } {
  const known = new Set(storedAddresses(state));
  const [changes, issues, texts]: [Change[], Issue[], string[]] = [[], [], []];
  for (const [at, { senderApplication: application, senderFacility: facility, ...rest }] of given.entries()) {
    const address = readAddress({ ...rest, application, facility });
    if (typeof address === 'string') {
      issues.push({ code: 'invalid', message: address, at: `addresses[${at}].range` });
      continue;
    }
    const name = addressText(address);
    texts.push(name);
    if (known.has(name)) continue;
    known.add(name);
    const item = { kind: 'address', action: 'create', name, clientId: null, permissions: null, members: [] } as const;
    changes.push({ item, write: { kind: 'address', ...address } });
  }
  return { changes, issues, warnings: [], texts };
}

type FileKey = NonNullable<SiteFile['apiKeys']>[number];

/** An API key of the file, and the stored key that it is about. */
interface Matched {
  readonly at: string;
  readonly name: string;
  /** Null for a new key. */
  readonly stored: VersionedKey | null;
  readonly body: Readonly<Record<string, unknown>>;
}

const trimmed = (name: unknown): string => (typeof name === 'string' ? name.trim() : '');

/** Finds the stored key of each API key of the file, by Client ID, else by name. */
function matchKeys(
  state: SiteState,
  given: readonly FileKey[],
  { copy }: PlanOptions,
): { readonly matched: readonly Matched[]; readonly issues: readonly Issue[] } {
  const byId = new Map(state.keys.map((key) => [key.client_id, key]));
  const byName = indexBy(state.keys, ({ name }) => [name]);
  const namesakes = indexBy(
    given.filter(({ clientId }) => copy || clientId === undefined),
    ({ name }) => [trimmed(name)],
  );
  // A key that the file finds by its Client ID is not found by its name too.
  const ids = new Set(copy ? [] : given.map(({ clientId }) => clientId));
  const seen = new Set<string>();
  const [matched, issues]: [Matched[], Issue[]] = [[], []];
  for (const [index, { clientId, ...body }] of given.entries()) {
    const at = `apiKeys[${index}]`;
    const issue = (field: string, message: string): void =>
      void issues.push({ code: 'invalid', message, at: `${at}.${field}` });
    const name = trimmed(body.name);
    if (clientId !== undefined && !copy) {
      const stored = byId.get(clientId);
      if (stored === undefined)
        issue(
          'clientId',
          'is not an API key of this site. Leave it out, or use the option copy for a file of another deployment',
        );
      else if (seen.has(clientId)) issue('clientId', 'is in the file twice');
      else matched.push({ at, name: name === '' ? stored.name : name, stored, body });
      seen.add(clientId);
      continue;
    }
    if (name === '') {
      issue('name', 'is required');
      continue;
    }
    const found = (byName.get(name) ?? []).filter(({ client_id: id }) => !ids.has(id));
    const others = namesakes.get(name)?.length ?? 0;
    if (found.length > 1 || (others > 1 && (found.length > 0 || !copy)))
      issue('name', `several API keys have the name ${JSON.stringify(name)}: give the clientId of each`);
    else matched.push({ at, name, stored: found[0] ?? null, body });
  }
  return { matched, issues };
}

/** Each public key of a JWKS as text. */
function publicKeysOf(jwks: unknown): string[] {
  const parsed = KEY_MEMBERS.jwks.view?.(jwks);
  const keys: readonly Json[] =
    typeof parsed === 'object' && parsed !== null && 'keys' in parsed && Array.isArray(parsed.keys) ? parsed.keys : [];
  return keys.flatMap((jwk) => (isJsonObject(jwk) ? [canonical(publicMembersOf(jwk))] : []));
}

/** The stored key with the public keys of a new one, if the file has no entry for it: it may have been renamed. */
function renamedFrom(record: Partial<KeyRecord>, unmentioned: readonly VersionedKey[]): VersionedKey | undefined {
  const own = new Set(typeof record.jwks === 'string' ? publicKeysOf(record.jwks) : []);
  return unmentioned.find(
    ({ jwks, jwks_uri: uri }) =>
      (uri !== null && uri === record.jwks_uri) || publicKeysOf(jwks).some((key) => own.has(key)),
  );
}

/** Inspects keys, and loads each JWKS URI once. */
function inspector(maxFetches: number, mayFetch: boolean): typeof inspectKeys {
  const fetched = new Map<string, Promise<Inspection>>();
  return async (deps, rules: Pick<Rules, 'jwksUri' | 'jwks'>) => {
    if (rules.jwksUri === null || rules.jwks !== null) return inspectKeys(deps, rules);
    if (!mayFetch) return NOT_INSPECTED;
    const known = fetched.get(rules.jwksUri);
    if (known !== undefined) return known;
    if (fetched.size >= maxFetches) {
      const message = `is one of more than ${maxFetches} new JWKS URIs: apply the file in parts, or with npm run admin`;
      return { issues: [{ code: 'invalid', message, at: 'jwksUri' }], findings: { keys: [] } };
    }
    const inspection = inspectKeys(deps, rules);
    fetched.set(rules.jwksUri, inspection);
    return inspection;
  };
}

interface KeyChange extends Matched {
  readonly clientId: string;
  readonly prepared: PreparedKey;
  readonly members: readonly PlannedMember[];
}

/** JWKS URIs that are loaded at the same time. */
const TOGETHER = 20;

async function planKeys(
  deps: PlanDeps,
  actor: Actor,
  state: SiteState,
  given: readonly FileKey[],
  options: PlanOptions,
  addsAddresses: boolean,
): Promise<Part & { readonly clientIds: Plan['clientIds']; readonly unmentioned: readonly VersionedKey[] }> {
  const { matched, issues: unmatched } = matchKeys(state, given, options);
  const mentioned = new Set(matched.map(({ stored }) => stored?.client_id));
  const unmentioned = state.keys.filter(({ client_id: id }) => !mentioned.has(id));
  const issues = [...unmatched];
  const warnings: string[] = [];
  const mayFetch = actor.permissions.has('site.api_keys.create') || actor.permissions.has('site.api_keys.update');
  const inspect = inspector(options.maxFetches, mayFetch);

  const prepareOne = async (each: Matched): Promise<KeyChange | undefined> => {
    const read = each.stored === null ? readNewKey(each.body) : readKeyChange(each.body);
    const { record, issues: found }: ReadKey = await withJwks(read);
    const { record: changed, members } = differing<KeyRecord>(KEY_MEMBERS, each.stored, record);
    if (members.length === 0 && found.length === 0) return undefined;
    const clientId = each.stored?.client_id ?? newClientId();
    const prepared = await prepareKey(deps, clientId, each.stored, { record: changed, issues: found }, inspect);
    return { ...each, clientId, prepared, members };
  };
  const changed: KeyChange[] = [];
  for (let from = 0; from < matched.length; from += TOGETHER) {
    const part = await Promise.all(matched.slice(from, from + TOGETHER).map(prepareOne));
    changed.push(...part.filter((each) => each !== undefined));
  }
  const ofDatabase = await issuesOfDatabase(
    inSite(deps.database, actor.site),
    actor.site,
    // Addresses that the file adds are checked when the keys are written.
    changed.map(({ prepared: { check } }) => (addsAddresses ? { ...check, sender: undefined } : check)),
  );
  const owners = new Map<string, string>();
  for (const [index, { at, name, stored, prepared }] of changed.entries()) {
    const former = stored === null ? renamedFrom(prepared.record, unmentioned) : undefined;
    if (former !== undefined) {
      const message =
        `${JSON.stringify(name)} is not an API key of the site, and its public keys are those of ${JSON.stringify(former.name)}. ` +
        `To rename that key, add clientId: ${former.client_id}. Otherwise add ${JSON.stringify(former.name)} to the file too`;
      issues.push({ code: 'invalid', message, at: `${at}.name` });
      continue;
    }
    issues.push(...under(at, [...prepared.issues, ...(ofDatabase[index] ?? [])]));
    for (const thumbprint of prepared.ownedThumbprints ?? []) {
      const other = owners.get(thumbprint);
      if (other !== undefined)
        issues.push({ code: 'duplicate', message: `has a public key that ${other} has too`, at: `${at}.jwks` });
      owners.set(thumbprint, at);
    }
    if (prepared.findings.unreachable !== undefined)
      warnings.push(`The JWKS URI of ${JSON.stringify(name)} could not be loaded: ${prepared.findings.unreachable}`);
    const kept = new Set(publicKeysOf(prepared.record.jwks));
    if (stored !== null && 'jwks' in prepared.record && publicKeysOf(stored.jwks).some((key) => !kept.has(key)))
      warnings.push(
        `${JSON.stringify(name)} loses a public key that it has now. If that key was set in the console, export the site again.`,
      );
  }

  const created = changed.filter(({ stored }) => stored === null);
  const changes = changed.map(({ name, stored, clientId, prepared, members }): Change => {
    const permissions = stored === null ? (['site.api_keys.create'] as const) : permissionsOfChange(prepared.record);
    const known = [...state.keys, ...created.map((each) => ({ name: each.name, client_id: each.clientId }))];
    return {
      item: {
        kind: 'api-key',
        action: stored === null ? 'create' : 'update',
        name: stored?.name ?? name,
        clientId: stored?.client_id ?? null,
        permissions,
        members,
      },
      write: {
        kind: 'api-key',
        clientId,
        expected: stored === null ? null : [stored.version],
        record: prepared.record,
        owned: prepared.ownedThumbprints,
        foreign: prepared.foreignThumbprints,
        known: stored === null ? known.filter((each) => each.name === name).map((each) => each.client_id) : [],
      },
    };
  });
  const pruned = options.prune ? unmentioned.filter(({ status }) => status === 'active') : [];
  const disabled = pruned.map(({ name, client_id: clientId, version }): Change => {
    const members = [{ member: 'status', before: 'active', after: 'disabled' }];
    const record = { status: 'disabled' };
    return {
      item: { kind: 'api-key', action: 'disable', name, clientId, permissions: ['site.api_keys.disable'], members },
      write: { kind: 'api-key', clientId, expected: [version], record, owned: null, foreign: [], known: [] },
    };
  });
  const idOf = new Map(created.map(({ at, clientId }) => [at, clientId]));
  return {
    changes: [...changes, ...disabled],
    issues,
    warnings,
    unmentioned,
    clientIds: matched.map(({ at, name, stored }) => ({ name, clientId: stored?.client_id ?? idOf.get(at) ?? '' })),
  };
}

/** The part of a change that the fingerprint has. Each plan makes another Client ID for a new key. */
function stampOf({ item, write }: Change): unknown {
  if (write.kind !== 'api-key' || write.expected !== null) return [item.action, write];
  const { clientId, known, ...rest } = write;
  return [item.action, { ...rest, known: known.filter((id) => id !== clientId).length }];
}

const MAX_ISSUES = 200;

function leftOut(
  state: SiteState,
  file: SiteFile,
  keys: readonly VersionedKey[],
  texts: readonly string[],
): Unmentioned {
  const stored = toMembers(SITE_MEMBERS, state.settings);
  const missing = (name: 'assigningAuthorities' | 'codeSystems'): string[] => {
    const given = file.settings?.[name];
    if (given === undefined) return [];
    const after = tableOf(
      toMembers(SITE_MEMBERS, toColumns(SITE_MEMBERS, parseMembers(siteChange, { [name]: given }, '').data)),
      name,
    );
    return [...tableOf(stored, name)].filter(([key]) => !after.has(key)).map(([, [text]]) => text);
  };
  return {
    apiKeys: file.apiKeys === undefined ? [] : keys.map(({ name, client_id: clientId }) => ({ name, clientId })),
    addresses: file.addresses === undefined ? [] : storedAddresses(state).filter((text) => !texts.includes(text)),
    assigningAuthorities: missing('assigningAuthorities'),
    codeSystems: missing('codeSystems'),
  };
}

/**
 * Plans a file.
 *
 * @throws Fault `invalid` with an issue for each place of the file, `conflict` for a file of another site
 */
export async function planFile(deps: PlanDeps, actor: Actor, given: unknown, options: PlanOptions): Promise<Plan> {
  const file = parse(siteFile, given, 'invalid', 'the file');
  const state = await readState(deps.database, actor);
  if (file.site !== undefined && file.site.toLowerCase() !== actor.site && !options.copy)
    throw new Fault(
      'conflict',
      `the file is of the site ${file.site}, and this is the site ${actor.site}. To make this site like it, use the option copy`,
    );
  const settings = await planSettings(deps, state, file.settings);
  const addresses = planAddresses(state, file.addresses);
  const { apiKeys = [] } = file;
  const { unmentioned, clientIds, ...keys } = await planKeys(
    deps,
    actor,
    state,
    apiKeys,
    { ...options, prune: options.prune && file.apiKeys !== undefined },
    addresses.changes.length > 0,
  );
  const parts: readonly Part[] = [settings, addresses, keys];
  const issues = parts.flatMap((part) => part.issues);
  if (issues.length > 0) {
    const more = issues.length > MAX_ISSUES ? `, the first ${MAX_ISSUES} of ${issues.length}` : '';
    throw new Fault('invalid', `the file is not valid${more}`, { issues: issues.slice(0, MAX_ISSUES) });
  }
  const changes = parts.flatMap((part) => part.changes);
  const items = changes.map(({ item }) => item);
  const warnings = parts.flatMap((part) => part.warnings);
  const left = leftOut(
    state,
    file,
    options.prune ? unmentioned.filter(({ status }) => status !== 'active') : unmentioned,
    addresses.texts,
  );
  return {
    fingerprint: await sha256Of(canonical([actor.site, changes.map(stampOf)])),
    items,
    warnings,
    unmentioned: left,
    diff: printPlan(items, warnings, left),
    writes: changes.map(({ write }) => write),
    clientIds,
  };
}
