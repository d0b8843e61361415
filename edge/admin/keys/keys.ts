/**
 * Creates and changes API keys for the console and its JSON API: parse, check the rules, inspect the JWKS, write the key and
 * its history. A second change of the same version fails.
 */
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { newClientId } from '../../../shared/oauth/client-id.ts';
import type { Database, Deps } from '../../deps.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';
import { changedMeanwhile } from '../api/if-match.ts';
import { parseMembers } from '../api/parse.ts';
import { newRecord, recordChange, toColumns } from '../../members/member.ts';
import type { Permission } from '../../permissions.ts';
import { noSuchSite } from '../settings/site.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';
import { DEFAULT_PROTOCOLS, KEY_MEMBERS, type KeyRecord } from '../../members/api-key.ts';
import { readPublicKeys } from './public-keys.ts';
import {
  checkSubscriptionHosts,
  checkTogether,
  type JwksFindings,
  inspectKeys,
  MAX_JWKS_CHARACTERS,
  NOT_INSPECTED,
  refusal,
  type Rules,
  thumbprintsOf,
} from './rules.ts';
import { type KeyRow, readKey, writeKey } from './statements.ts';
import { findKeyConflicts } from '../../store/admin-key.ts';
import { inSite } from '../../store/in-site.ts';
import { siteAddresses, type SiteAddressRow } from '../../store/site-address.ts';

export const newKey = newRecord(KEY_MEMBERS);
export const keyChange = recordChange(KEY_MEMBERS);

/** Also for commands, which have no runtime. */
export type KeyDeps = Pick<Deps, 'database'> & GuardedFetching;

export interface SavedKey {
  readonly key: KeyRow;
  readonly findings: JwksFindings;
}

export const noSuchKey = () => new Fault('not-found', 'no such API key');

/** Reads a key of the site. @throws Fault `not-found` */
export async function requireKey(database: Database, site: string, clientId: string): Promise<KeyRow> {
  const [key] = await inSite(database, site).run(readKey(site, clientId));
  if (key === undefined) throw noSuchKey();
  return key;
}

/** The valid members of a record, and the issues of the others. */
export interface ReadKey {
  readonly record: Partial<KeyRecord>;
  readonly issues: readonly Issue[];
}

/** The record of a new key. @throws Fault `invalid` if `body` is not an object */
export function readNewKey(body: unknown): ReadKey {
  const { data, issues } = parseMembers(newKey, body, 'the API key');
  const given = toColumns(KEY_MEMBERS, data);
  // An empty list counts as left out.
  const protocols = given.protocols?.length === 0 ? DEFAULT_PROTOCOLS : given.protocols;
  return { record: protocols === undefined ? given : { ...given, protocols }, issues };
}

/** The record of a change. @throws Fault `invalid` if `body` is not an object */
export function readKeyChange(body: unknown): ReadKey {
  const { data, issues } = parseMembers(keyChange, body, 'the change');
  return { record: toColumns(KEY_MEMBERS, data), issues };
}

/** @throws Fault `invalid` with an issue for each field; `forbidden` without the permission */
export async function createKey(deps: KeyDeps, actor: Actor, body: unknown): Promise<SavedKey> {
  requirePermission(actor, 'site.api_keys.create');
  return save(deps, actor, { clientId: newClientId(), current: null, expected: null, ...readNewKey(body) });
}

/** The permissions of a change: disabling has its own. */
export function permissionsOfChange({ status, ...others }: Partial<KeyRecord>): Permission[] {
  const isUpdate = status === 'active' || Object.keys(others).length > 0 || status === undefined;
  return [
    ...(status === 'disabled' ? (['site.api_keys.disable'] as const) : []),
    ...(isUpdate ? (['site.api_keys.update'] as const) : []),
  ];
}

/**
 * @param expected the versions that may be overwritten; an empty list for any
 * @throws Fault `not-found`, `precondition-failed` for another version, `invalid` with an issue for each field
 */
export async function changeKey(
  deps: KeyDeps,
  actor: Actor,
  clientId: string,
  expected: readonly number[],
  body: unknown,
): Promise<SavedKey> {
  const current = await requireKey(deps.database, actor.site, clientId);
  const { record, issues } = readKeyChange(body);
  for (const permission of permissionsOfChange(record)) requirePermission(actor, permission);
  if (expected.length > 0 && !expected.includes(current.version))
    throw changedMeanwhile('the API key', current.version);
  return save(deps, actor, { clientId, current, expected, record, issues });
}

interface Saving extends ReadKey {
  readonly clientId: string;
  /** Null for a new key. */
  readonly current: KeyRow | null;
  readonly expected: readonly number[] | null;
}

/** Converts inline public keys to the JWKS that is stored. Converting it again changes nothing. */
export async function withJwks({ record, issues }: ReadKey): Promise<ReadKey> {
  if (typeof record.jwks !== 'string' || record.jwks.length > MAX_JWKS_CHARACTERS) return { record, issues };
  const read = await readPublicKeys(record.jwks);
  if ('jwks' in read) return { record: { ...record, jwks: read.jwks }, issues };
  return { record, issues: [...issues, { code: 'invalid', message: read.problem, at: 'jwks' }] };
}

/** A record that was checked except by the database. */
export interface PreparedKey extends ReadKey {
  readonly findings: JwksFindings;
  /** As `writeKey` has them. */
  readonly ownedThumbprints: readonly string[] | null;
  readonly foreignThumbprints: readonly string[];
  readonly check: DatabaseCheck;
}

/**
 * Checks a record by all rules that need no database.
 *
 * @param current null for a new key
 */
export async function prepareKey(
  deps: GuardedFetching,
  clientId: string,
  current: KeyRecord | null,
  read: ReadKey,
  inspect = inspectKeys,
): Promise<PreparedKey> {
  const { record, issues: found } = await withJwks(read);
  const merged = { ...current, ...record };
  const rules = rulesOf(merged, found);
  // Unchanged keys are not inspected again, so that a key whose JWKS is no longer acceptable can be disabled.
  const isInspected = current === null || 'jwks' in record || 'jwks_uri' in record;
  const broken = current === null || isRuleChanged(record) ? checkTogether(rules) : [];
  // Stored hosts are not checked again, so that a key can be changed after the configuration has changed.
  const hosts = (record.subscription_hosts ?? []).filter((host) => !current?.subscription_hosts.includes(host));
  const located = new Set(found.map(({ at }) => at));
  // A field that already has an issue is not inspected.
  const inspected = {
    jwksUri: located.has('jwksUri') ? null : rules.jwksUri,
    jwks: located.has('jwks') ? null : rules.jwks,
  };
  const { issues: ofKeys, findings } = isInspected ? await inspect(deps, inspected) : NOT_INSPECTED;
  const { owned, foreign, names } = await thumbprintsOf(findings, rules.jwks !== null);
  return {
    record,
    issues: [
      ...found,
      ...broken.filter(({ at }) => !located.has(at)),
      ...checkSubscriptionHosts(deps.config, hosts),
      ...ofKeys,
    ],
    findings,
    ownedThumbprints: isInspected ? owned : null,
    foreignThumbprints: foreign,
    check: {
      clientId,
      thumbprints: [...owned, ...foreign],
      names,
      keysField: rules.jwks === null ? 'jwksUri' : 'jwks',
      sender: isSenderValid(found) && isSenderChanged(current, record) ? merged : undefined,
    },
  };
}

/** Reports all issues at once, those that only the database finds included. */
async function save(deps: KeyDeps, actor: Actor, { clientId, current, expected, ...read }: Saving): Promise<SavedKey> {
  const { record, issues, findings, check, ...thumbprints } = await prepareKey(deps, clientId, current, read);
  const database = inSite(deps.database, actor.site);
  const databaseIssues = async () => (await issuesOfDatabase(database, actor.site, [check])).flat();
  if (issues.length > 0) throw refusal([...issues, ...(await databaseIssues())]);

  const write = writeKey({ site: actor.site, clientId, expected, by: authorOf(actor), record, ...thumbprints });
  const [[written], [key]] = await database
    .batch([write, readKey(actor.site, clientId)])
    .catch(async (error: unknown) => {
      if (!(error instanceof Fault) || error.rows === undefined) throw error;
      const refused = await databaseIssues();
      throw refused.length > 0 ? refusal(refused) : error;
    });
  if (written?.outcome === 'version') throw changedMeanwhile('the API key', written.version);
  if (key === undefined || written?.outcome === 'missing') throw missing(expected);
  return { key, findings };
}

/** The members that the rules check. A member that is not valid counts as given: it has an issue already. */
function rulesOf(merged: Partial<KeyRecord>, found: readonly Issue[]): Rules {
  const isInvalid = (member: string) => found.some(({ at }) => fieldAt(at) === member);
  return {
    jwksUri: isInvalid('jwksUri') ? INVALID : (merged.jwks_uri ?? null),
    jwks: merged.jwks ?? null,
    protocols: merged.protocols ?? [INVALID],
    allowedIps: merged.allowed_ips ?? [INVALID],
  };
}

/** In place of a member that is not valid. */
const INVALID = '?';

const RULE_COLUMNS = ['jwks', 'jwks_uri', 'protocols', 'allowed_ips'] as const satisfies readonly (keyof KeyRecord)[];
const isRuleChanged = (record: Partial<KeyRecord>): boolean => RULE_COLUMNS.some((column) => column in record);

const missing = (expected: readonly number[] | null) => (expected === null ? noSuchSite() : noSuchKey());

/** The columns that select MLLP senders, and their fields. */
const SENDER = [
  ['protocols', 'protocols'],
  ['allowed_ips', 'allowedIps'],
  ['hl7_sender_application', 'hl7SenderApplication'],
  ['hl7_sender_facility', 'hl7SenderFacility'],
  ['tls_subject', 'tlsSubject'],
] as const satisfies readonly (readonly [keyof KeyRecord, string])[];

const fieldAt = (at: string | undefined): string | undefined => at?.split(/[.[]/)[0];

/** True if all of these fields are valid. */
const isSenderValid = (found: readonly Issue[]): boolean =>
  !found.some(({ at }) => SENDER.some(([, field]) => field === fieldAt(at)));

/** The same as in api_key_write.sql: unchanged columns are not checked again, unless the key is enabled. */
const isSenderChanged = (current: KeyRecord | null, record: Partial<KeyRecord>): boolean =>
  current === null ||
  (current.status !== 'active' && record.status === 'active') ||
  SENDER.some(([column]) => column in record && String(record[column]) !== String(current[column]));

/** The parts of a record that only the database can check. */
export interface DatabaseCheck {
  readonly clientId: string;
  readonly thumbprints: readonly string[];
  /** The kid of each thumbprint, or its number. */
  readonly names: readonly string[];
  readonly keysField: 'jwks' | 'jwksUri';
  /** The key whose addresses are checked; undefined if they are unchanged or not valid. */
  readonly sender: Partial<KeyRecord> | undefined;
}

/**
 * The issues of each key that only the database finds: public keys of other clients, and addresses that are not the site's.
 */
export async function issuesOfDatabase(
  database: Database,
  site: string,
  checks: readonly DatabaseCheck[],
): Promise<Issue[][]> {
  const asked = checks.map(({ clientId, thumbprints, sender }) => ({
    clientId,
    thumbprints,
    allowedIps: sender?.protocols?.includes('hl7-mllp') === true ? (sender.allowed_ips ?? []) : [],
    application: sender?.hl7_sender_application ?? null,
    facility: sender?.hl7_sender_facility ?? null,
    tlsSubject: sender?.tls_subject ?? null,
  }));
  if (asked.every(({ thumbprints, allowedIps }) => thumbprints.length === 0 && allowedIps.length === 0))
    return checks.map(() => []);
  const [conflicts, own] = await database.batch([findKeyConflicts(site, asked), siteAddresses(site)]);
  const ranges = own.map(({ range, ...only }) => [range, ...senderFilters(only)].join(' '));
  const known = ranges.length === 0 ? 'none so far' : ranges.join(', ');
  return checks.map(({ names, keysField }, at) => [
    ...positionsIn(conflicts[at]?.foreign_keys).map((position) => ({
      code: 'duplicate',
      message: `the public key ${names[position] ?? ''} already belongs to another API key: make a new key pair`,
      at: keysField,
    })),
    ...positionsIn(conflicts[at]?.foreign_addresses).map((position) => ({
      code: 'invalid',
      message:
        `${asked[at]?.allowedIps[position] ?? ''} is outside the addresses that the operator has assigned to this site for such ` +
        `senders (${known}): choose one of them, or ask the operator`,
      at: 'allowedIps',
    })),
  ]);
}

const positionsIn = (json: string | null | undefined): number[] => z.array(z.number()).parse(JSON.parse(json ?? '[]'));

/** The sender filters of an assignment, if it has any. */
function senderFilters({ application, facility, tls_subject: subject }: Omit<SiteAddressRow, 'range'>): string[] {
  const marks = [
    ...(application === '' ? [] : [`MSH-3 ${application}`]),
    ...(facility === '' ? [] : [`MSH-4 ${facility}`]),
    ...(subject === '' ? [] : [`TLS subject ${subject}`]),
  ];
  return marks.length === 0 ? [] : [`(${marks.join(', ')})`];
}
