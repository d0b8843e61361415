/**
 * Compares a file with its site: the changes that would make the site as the file says. Records that the file does not have
 * stay. The rules are those of the forms.
 */
import { Fault, type Issue } from '../../../shared/fault.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { SiteFileWrite } from '../../store/site-apply.ts';
import { parse } from '../api/parse.ts';
import { type GivenAddress, toAddress } from '../settings/addresses.ts';
import type { Actor } from '../staff/actor.ts';
import { type SiteFile, siteFile } from './file.ts';
import { canonical, type Change, type Part, type PlanDeps, type PlanOptions } from './part.ts';
import { type KeyOfFile, planKeys } from './plan-keys.ts';
import { planCodeTables } from './plan-code-tables.ts';
import { planRules } from './plan-rules.ts';
import { planSettings } from './plan-settings.ts';
import { type NewSubscription, planSubscriptions } from './plan-subscriptions.ts';
import type { PlannedItem, Unmentioned } from './planned.ts';
import { printPlan } from './print.ts';
import { readRulesState, readState, type RulesState, type SiteState } from './state.ts';

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
  readonly clientIds: readonly KeyOfFile[];
  /** The subscriptions that its writes make. */
  readonly created: readonly NewSubscription[];
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

/**
 * The part of a change that the fingerprint has. Each plan makes another Client ID for a new key. The keys at a JWKS URI are
 * left out: they change at any time, and only a caller who may change API keys loads them.
 */
function stampOf({ item, write }: Change): unknown {
  if (write.kind === 'subscription') {
    const { id, expected, key, change, record } = write;
    return [item.action, expected === null ? null : id, key, expected, change, record];
  }
  if (write.kind === 'rules') return [item.action, write.kind, write.key, write.expected, write.rules];
  if (write.kind === 'code-table') return [item.action, write.kind, write.name, write.expected, write.digest];
  if (write.kind !== 'api-key') return [item.action, write];
  const { clientId, expected, known, record } = write;
  if (expected !== null) return [item.action, clientId, expected, record];
  return [item.action, known.filter((id) => id !== clientId).length, record];
}

const MAX_ISSUES = 200;

const NO_RULES: RulesState = { rules: new Map(), tables: [] };

/**
 * Plans a file.
 *
 * @throws Fault `invalid` with an issue for each place of the file, `conflict` for a file of another site
 */
export async function planFile(deps: PlanDeps, actor: Actor, content: unknown, options: PlanOptions): Promise<Plan> {
  const file = parse(siteFile, content, 'invalid', 'the file');
  const state = await readState(deps.database, actor, file.subscriptions !== undefined);
  if (file.site !== undefined && file.site.toLowerCase() !== actor.site && !options.copy)
    throw new Fault(
      'conflict',
      `the file is of the site ${file.site}, and this is the site ${actor.site}. To make this site like it, use the option copy`,
    );
  const settings = await planSettings(deps, state, file.settings);
  const addresses = planAddresses(state, file.addresses);
  const { apiKeys = [] } = file;
  const hasRules = file.codeTables !== undefined || apiKeys.some(({ rules }) => rules !== undefined);
  const live = hasRules ? await readRulesState(deps.database, actor) : NO_RULES;
  const {
    unmentioned,
    clientIds,
    after,
    rules: given,
    ...keys
  } = await planKeys(
    deps,
    actor,
    state,
    apiKeys,
    { ...options, prune: options.prune && file.apiKeys !== undefined },
    addresses.changes.length > 0,
  );
  const { created, ...subscriptions } = planSubscriptions(
    deps,
    actor,
    state.subscriptions,
    file.subscriptions ?? [],
    after,
    options,
  );
  const rules = planRules(live.rules, given);
  const { unmentioned: otherTables, ...codeTables } = await planCodeTables(
    deps,
    actor,
    live.tables,
    file.codeTables,
    options,
  );
  const parts: readonly Part[] = [settings, addresses, keys, rules, codeTables, subscriptions];
  const issues = parts.flatMap((part) => part.issues);
  if (issues.length > 0) {
    const more = issues.length > MAX_ISSUES ? `, the first ${MAX_ISSUES} of ${issues.length}` : '';
    throw new Fault('invalid', `the file is not valid${more}`, { issues: issues.slice(0, MAX_ISSUES) });
  }
  const changes = parts.flatMap((part) => part.changes);
  if (changes.length > options.maxChanges)
    throw new Fault(
      'invalid',
      `the file makes ${changes.length} changes, of at most ${options.maxChanges} at once: apply it in parts, or with npm run admin`,
    );
  const items = changes.map(({ item }) => item);
  const warnings = parts.flatMap((part) => part.warnings);
  const left: Unmentioned = {
    apiKeys:
      file.apiKeys === undefined
        ? []
        : unmentioned
            .filter(({ status }) => !options.prune || status !== 'active')
            .map(({ name, client_id: clientId }) => ({ name, clientId })),
    addresses:
      file.addresses === undefined ? [] : storedAddresses(state).filter((text) => !addresses.texts.includes(text)),
    ...settings.unmentioned,
    subscriptions: subscriptions.unmentioned,
    codeTables: otherTables,
  };
  return {
    // A command would read a fingerprint that begins with `-` as an option.
    fingerprint: `plan_${await sha256Of(canonical([actor.site, changes.map(stampOf)]))}`,
    items,
    warnings,
    unmentioned: left,
    diff: printPlan(items, warnings, left),
    writes: changes.map(({ write }) => write),
    clientIds,
    created,
  };
}
