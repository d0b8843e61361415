/** Compares the subscriptions of a file with those of its site. */
import type { Issue } from '../../../shared/fault.ts';
import { indexBy } from '../../../shared/index-by.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { checkForeignUrl } from '../../http/guarded-fetch.ts';
import type { SiteSubscriptionRow } from '../../store/admin-subscription.ts';
import { MAX_SUBSCRIPTIONS_OF_KEY } from '../../store/subscription.ts';
import { parseMembers } from '../api/parse.ts';
import { type Actor, requirePermission } from '../staff/actor.ts';
import { SUBSCRIPTIONS_OFF } from '../subscriptions/subscriptions.ts';
import { BLOCKED } from '../subscriptions/view.ts';
import {
  type Entry,
  type FileSubscriptions,
  subscriptionEntry,
  matchSubscriptions,
  type Matched,
  membersOfRow,
  tupleOf,
  tupleOfRow,
} from './match-subscriptions.ts';
import { canonical, type Change, type KeysAfter, type Part, type PlanDeps, type PlanOptions, under } from './part.ts';
import { withoutPath } from './plan-settings.ts';

/** A subscription that the file creates. */
export interface NewSubscription {
  readonly apiKey: string;
  readonly type: string;
  readonly filter: string;
  readonly subscriptionId: string;
}

/** The parameters of filters that name no patient. */
const WITHOUT_PATIENT = new Set(['category', 'clinical-status', 'code', 'status', 'type', 'verification-status']);

const parametersOf = (filter: string): string[] => [...new URLSearchParams(filter).keys()];

/** True if a filter may name a patient. */
export const mayNamePatient = (filter: string): boolean =>
  parametersOf(filter).some((name) => !WITHOUT_PATIENT.has(name.split(':')[0] ?? ''));

const endOf = (given: string | null): string | null => (given ? new Date(given).toISOString() : null);

const MEMBERS = [
  'type',
  'filter',
  'endpoint',
  'payload',
  'reason',
  'heartbeatSeconds',
  'maxCount',
  'endsAt',
  'status',
] as const satisfies readonly (keyof Entry)[];

interface Planned extends Matched {
  readonly entry: Entry;
  readonly changed: readonly (keyof Entry)[];
}

/** @returns undefined for an entry that is not valid or changes nothing, with its issues */
function comparisonOf(each: Matched): { readonly planned?: Planned; readonly issues: readonly Issue[] } {
  const { at, stored, body } = each;
  const before = stored === null ? null : membersOfRow(stored);
  const { data, issues } = parseMembers(subscriptionEntry, { ...before, ...body }, 'the subscription');
  const parsed = subscriptionEntry.safeParse(data).data;
  if (issues.length > 0 || parsed === undefined) return { issues: under(at, issues) };
  const entry = { ...parsed, endsAt: endOf(parsed.endsAt) };
  const changed = MEMBERS.filter((name) => before === null || canonical(before[name]) !== canonical(entry[name]));
  return changed.length === 0 ? { issues: [] } : { planned: { ...each, entry, changed }, issues: [] };
}

const hostOf = (endpoint: string): string => (URL.canParse(endpoint) ? new URL(endpoint).host : '');

/** The issues of a subscription by the rules of its form, and the reason why nothing would be posted. */
function checkEntry(
  deps: PlanDeps,
  { at, key, entry, changed }: Planned,
): { readonly issues: readonly Issue[]; readonly blocked: string | undefined } {
  const issues: Issue[] = [];
  const wrong = (field: string, message: string): void =>
    void issues.push({ code: 'invalid', message, at: `${at}.${field}` });
  const { subscribing, config } = deps;
  if (subscribing === undefined) {
    const message = 'subscriptions change only over /admin/api (--console): the running gateway makes their secrets';
    return { issues: [{ code: 'invalid', message, at }], blocked: undefined };
  }
  if (!subscribing.isOn) return { issues: [{ code: 'invalid', message: SUBSCRIPTIONS_OFF, at }], blocked: undefined };
  const { type, filter, endpoint } = entry;
  const types = subscribing.notifications.topicTypes();
  if (changed.includes('type') && !types.includes(type)) wrong('type', `must be one of ${types.join(', ')}`);
  else if (changed.includes('filter') && filter !== '') {
    const problem = subscribing.notifications.filterProblem(type, filter);
    if (problem !== undefined) wrong('filter', problem);
  }
  const foreign = changed.includes('endpoint') ? checkForeignUrl(config, endpoint) : undefined;
  if (foreign !== undefined) wrong('endpoint', foreign);
  const { status, protocols, allowed_scopes: scopes, subscription_hosts: hosts } = key.record;
  const host = hostOf(endpoint);
  if (foreign === undefined && hosts?.includes(host) !== true)
    wrong('endpoint', `${host} is not a subscription host of ${JSON.stringify(key.name)}: add it to the API key first`);
  const isKeyActive = status !== 'disabled' && protocols?.includes('fhir') !== false;
  const mayRead = scopes?.includes(`system/${type}.read`) === true;
  return { issues, blocked: isKeyActive ? (mayRead ? undefined : BLOCKED.scope) : BLOCKED.key };
}

const SECRET = new Set(['endpoint']);

/** A subscription for people. Its filter is left out if it may name a patient and the reader may see none. */
function textOf(
  actor: Actor,
  name: string,
  { type, filter, endpoint }: Pick<Entry, 'type' | 'filter' | 'endpoint'>,
): string {
  const isShown = !mayNamePatient(filter) || actor.permissions.has('site.messages.read');
  const search = isShown
    ? filter
    : parametersOf(filter)
        .map((each) => `${each}=…`)
        .join('&');
  return `${name}: ${type}${search === '' ? '' : `?${search}`} to ${String(withoutPath(endpoint))}`;
}

/** @param id the id of the stored or the new subscription. @param known the ids of equal subscriptions */
function changeOf(
  actor: Actor,
  { key, stored, entry, changed }: Planned,
  id: string,
  known: readonly string[],
): Change {
  const { status, ...record } = entry;
  const before = stored === null ? null : membersOfRow(stored);
  const shown = (member: string, value: unknown): unknown => (SECRET.has(member) ? withoutPath(value) : value);
  const isSwitch = stored !== null && changed.every((member) => member === 'status');
  return {
    item: {
      kind: 'subscription',
      action: stored === null ? 'create' : 'update',
      name: textOf(actor, key.name, entry),
      clientId: key.isNew ? null : key.clientId,
      permissions: ['site.api_keys.update'],
      members: changed.map((member) => ({
        member,
        before: before === null ? null : shown(member, before[member]),
        after: shown(member, entry[member]),
      })),
    },
    write: {
      kind: 'subscription',
      id,
      clientId: key.clientId,
      key: key.isNew ? key.name : key.clientId,
      expected: stored?.version ?? null,
      change: isSwitch ? (status === 'paused' ? 'pause' : 'resume') : null,
      record: {
        ...record,
        host: hostOf(entry.endpoint),
        headers: null,
        status: status === 'paused' ? 'off' : 'requested',
      },
      known,
    },
  };
}

/** The pause of a subscription that the file does not have. */
function pauseOf(row: SiteSubscriptionRow, name: string): Change {
  const { subscription_id: id, client_id: clientId, version } = row;
  const { status, ...record } = membersOfRow(row);
  return {
    item: {
      kind: 'subscription',
      action: 'disable',
      name,
      clientId,
      permissions: ['site.api_keys.update'],
      members: [{ member: 'status', before: status, after: 'paused' }],
    },
    write: {
      kind: 'subscription',
      id,
      clientId,
      key: clientId,
      expected: version,
      change: 'pause',
      record: { ...record, endsAt: row.ends_at, host: hostOf(row.endpoint), headers: null, status: 'off' },
      known: [],
    },
  };
}

/** The changes of the subscriptions, and the stored subscriptions that the file leaves out. */
export function planSubscriptions(
  deps: PlanDeps,
  actor: Actor,
  rows: readonly SiteSubscriptionRow[],
  given: FileSubscriptions,
  keys: KeysAfter,
  options: PlanOptions,
): Part & { readonly unmentioned: readonly string[]; readonly created: readonly NewSubscription[] } {
  // Also for a subscription that would not change: the answer says that it exists.
  for (const { filter } of given)
    if (typeof filter === 'string' && mayNamePatient(filter)) requirePermission(actor, 'site.messages.read');
  const { matched, issues: unmatched } = matchSubscriptions(rows, given, keys, options);
  const issues = [...unmatched];
  const warnings: string[] = [];
  const mentioned = new Set(matched.map(({ stored }) => stored?.subscription_id));
  const unmentioned = rows.filter(({ subscription_id: id }) => !mentioned.has(id));
  const elsewhere = indexBy(unmentioned, ({ client_id: id, type, filter }) => [tupleOf(id, type, filter, '')]);
  const planned: Planned[] = [];
  for (const each of matched) {
    const found = comparisonOf(each);
    issues.push(...found.issues);
    if (found.planned === undefined) continue;
    const { entry, at, key, stored } = found.planned;
    const checked = checkEntry(deps, found.planned);
    issues.push(...checked.issues);
    const [other] = stored === null ? (elsewhere.get(tupleOf(key.clientId, entry.type, entry.filter, '')) ?? []) : [];
    if (other !== undefined)
      issues.push({
        code: 'invalid',
        message:
          `is not a subscription of the site, and another one has the same API key, type and filter. To move that one to this address, add ` +
          `subscriptionId: ${other.subscription_id}. Otherwise add it to the file too`,
        at: `${at}.endpoint`,
      });
    if (checked.blocked !== undefined && entry.status === 'on')
      warnings.push(`${textOf(actor, key.name, entry)}: nothing is posted. ${checked.blocked}`);
    if (stored?.has_headers === true && hostOf(stored.endpoint) !== hostOf(entry.endpoint))
      warnings.push(
        `${textOf(actor, key.name, entry)}: the headers for its receiver are deleted, because they are for another host.`,
      );
    planned.push(found.planned);
  }
  const counts = new Map<string, number>();
  const count = (id: string): number => {
    const next = (counts.get(id) ?? 0) + 1;
    counts.set(id, next);
    return next;
  };
  for (const { client_id: id } of rows) count(id);
  const made = planned.filter(({ stored }) => stored === null);
  for (const { at, key } of made)
    if (count(key.clientId) === MAX_SUBSCRIPTIONS_OF_KEY + 1)
      issues.push({
        code: 'invalid',
        message: `${JSON.stringify(key.name)} would have more than ${MAX_SUBSCRIPTIONS_OF_KEY} subscriptions`,
        at: `${at}.apiKey`,
      });
  const now = deps.subscribing?.now() ?? 0;
  const ids = new Map(made.map(({ at }) => [at, uuidv7(now)]));
  const equal = indexBy(
    [
      ...rows.map((row) => ({ id: row.subscription_id, tuple: tupleOfRow(row) })),
      ...made.map(({ at, key, entry: { type, filter, endpoint } }) => ({
        id: ids.get(at) ?? '',
        tuple: tupleOf(key.clientId, type, filter, endpoint),
      })),
    ],
    ({ tuple }) => [tuple],
  );
  const changes = planned.map((each) => {
    const { at, key, stored, entry } = each;
    const same = equal.get(tupleOf(key.clientId, entry.type, entry.filter, entry.endpoint)) ?? [];
    const known = same.map(({ id }) => id);
    return changeOf(actor, each, stored?.subscription_id ?? ids.get(at) ?? '', known);
  });
  const nameOf = (row: SiteSubscriptionRow): string =>
    textOf(actor, keys.ofId(row.client_id)?.name ?? row.client_id, membersOfRow(row));
  const pruned = options.prune ? unmentioned.filter(({ is_paused: isPaused }) => !isPaused) : [];
  const paused = pruned.map((row) => pauseOf(row, nameOf(row)));
  return {
    changes: [...changes, ...paused],
    issues,
    warnings,
    unmentioned: unmentioned.filter((row) => !pruned.includes(row)).map(nameOf),
    created: made.map(({ at, key, entry: { type, filter } }) => ({
      apiKey: key.name,
      type,
      filter,
      subscriptionId: ids.get(at) ?? '',
    })),
  };
}
