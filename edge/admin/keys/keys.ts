/**
 * Creates and changes API keys for the console and its JSON API: parse, check the rules, inspect the JWKS, write the key and
 * its history. A second change of the same version fails.
 */
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import type { Database, Deps } from '../../deps.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';
import { changedMeanwhile } from '../api/if-match.ts';
import { parseMembers } from '../api/parse.ts';
import { newRecord, recordChange, toColumns } from '../../members/member.ts';
import { noSuchSite } from '../settings/site.ts';
import { type Actor, authorOf, requirePermission } from '../staff/actor.ts';
import { DEFAULT_PROTOCOLS, KEY_MEMBERS, type KeyRecord } from '../../members/api-key.ts';
import { readPublicKeys } from './public-keys.ts';
import {
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

/** @throws Fault `invalid` with an issue for each field; `forbidden` without the permission */
export async function createKey(deps: KeyDeps, actor: Actor, body: unknown): Promise<SavedKey> {
  requirePermission(actor, 'site.api_keys.create');
  const { data, issues } = parseMembers(newKey, body, 'the API key');
  const given = toColumns(KEY_MEMBERS, data);
  // An empty list counts as left out.
  const protocols = given.protocols?.length === 0 ? DEFAULT_PROTOCOLS : given.protocols;
  const record = protocols === undefined ? given : { ...given, protocols };
  return save(deps, actor, { clientId: `svc-${crypto.randomUUID()}`, current: null, expected: null, record, issues });
}

/** Checks the permissions of a change: disabling has its own. */
function requirePermissions(actor: Actor, { status, ...others }: Partial<KeyRecord>): void {
  if (status === 'disabled') requirePermission(actor, 'site.api_keys.disable');
  if (status === 'active' || Object.keys(others).length > 0 || status === undefined) {
    requirePermission(actor, 'site.api_keys.update');
  }
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
  const { data, issues } = parseMembers(keyChange, body, 'the change');
  const record = toColumns(KEY_MEMBERS, data);
  requirePermissions(actor, record);
  if (expected.length > 0 && !expected.includes(current.version))
    throw changedMeanwhile('the API key', current.version);
  return save(deps, actor, { clientId, current, expected, record, issues });
}

interface Saving {
  readonly clientId: string;
  /** Null for a new key. */
  readonly current: KeyRow | null;
  readonly expected: readonly number[] | null;
  /** The valid members of the request. */
  readonly record: Partial<KeyRecord>;
  /** The issues of the other members. */
  readonly issues: readonly Issue[];
}

/** Converts inline public keys to the JWKS that is stored. */
async function withJwks(record: Partial<KeyRecord>): Promise<{ record: Partial<KeyRecord>; issues: readonly Issue[] }> {
  if (typeof record.jwks !== 'string' || record.jwks.length > MAX_JWKS_CHARACTERS) return { record, issues: [] };
  const read = await readPublicKeys(record.jwks);
  if ('jwks' in read) return { record: { ...record, jwks: read.jwks }, issues: [] };
  return { record, issues: [{ code: 'invalid', message: read.problem, at: 'jwks' }] };
}

/** Reports all issues at once, those that only the database finds included. */
async function save(deps: KeyDeps, actor: Actor, saving: Saving): Promise<SavedKey> {
  const { clientId, current, expected } = saving;
  const { record, issues } = await withJwks(saving.record);
  const found = [...saving.issues, ...issues];
  const merged = { ...current, ...record };
  const rules = rulesOf(merged, found);
  // Unchanged keys are not inspected again, so that a key whose JWKS is no longer acceptable can be disabled.
  const isInspected = current === null || 'jwks' in record || 'jwks_uri' in record;
  const broken = current === null || isRuleChanged(record) ? checkTogether(rules) : [];
  const located = new Set(found.map(({ at }) => at));
  // A field that already has an issue is not inspected.
  const inspected = {
    jwksUri: located.has('jwksUri') ? null : rules.jwksUri,
    jwks: located.has('jwks') ? null : rules.jwks,
  };
  const { issues: ofKeys, findings } = isInspected ? await inspectKeys(deps, inspected) : NOT_INSPECTED;
  const wrong = [...found, ...broken.filter(({ at }) => !located.has(at)), ...ofKeys];

  const database = inSite(deps.database, actor.site);
  const { owned, foreign, names } = await thumbprintsOf(findings, rules.jwks !== null);
  const databaseIssues = () =>
    issuesOfDatabase(database, actor.site, clientId, {
      thumbprints: [...owned, ...foreign],
      names,
      keysField: rules.jwks === null ? 'jwksUri' : 'jwks',
      sender: isSenderValid(found) && isSenderChanged(current, record) ? merged : undefined,
    });
  if (wrong.length > 0) throw refusal([...wrong, ...(await databaseIssues())]);

  const write = writeKey({
    site: actor.site,
    clientId,
    expected,
    by: authorOf(actor),
    record,
    ownedThumbprints: isInspected ? owned : null,
    foreignThumbprints: foreign,
  });
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
const isSenderChanged = (current: KeyRow | null, record: Partial<KeyRecord>): boolean =>
  current === null ||
  (current.status !== 'active' && record.status === 'active') ||
  SENDER.some(([column]) => column in record && String(record[column]) !== String(current[column]));

interface DatabaseCheck {
  readonly thumbprints: readonly string[];
  /** The kid of each thumbprint, or its number. */
  readonly names: readonly string[];
  readonly keysField: 'jwks' | 'jwksUri';
  /** The key whose addresses are checked; undefined if they are unchanged or not valid. */
  readonly sender: Partial<KeyRecord> | undefined;
}

/** The issues that only the database finds: public keys of other clients, and addresses that are not the site's. */
async function issuesOfDatabase(
  database: Database,
  site: string,
  clientId: string,
  { thumbprints, names, keysField, sender }: DatabaseCheck,
): Promise<Issue[]> {
  const allowedIps = sender?.protocols?.includes('hl7-mllp') === true ? (sender.allowed_ips ?? []) : [];
  if (thumbprints.length === 0 && allowedIps.length === 0) return [];
  const asked = {
    thumbprints,
    allowedIps,
    application: sender?.hl7_sender_application ?? null,
    facility: sender?.hl7_sender_facility ?? null,
    tlsSubject: sender?.tls_subject ?? null,
  };
  const [[conflicts], own] = await database.batch([findKeyConflicts(site, clientId, asked), siteAddresses(site)]);
  const ranges = own.map(({ range, ...only }) => [range, ...senderFilters(only)].join(' '));
  const known = ranges.length === 0 ? 'none so far' : ranges.join(', ');
  return [
    ...positionsIn(conflicts?.foreign_keys).map((position) => ({
      code: 'duplicate',
      message: `the public key ${names[position] ?? ''} already belongs to another API key: make a new key pair`,
      at: keysField,
    })),
    ...positionsIn(conflicts?.foreign_addresses).map((position) => ({
      code: 'invalid',
      message:
        `${allowedIps[position] ?? ''} is outside the addresses that the operator has assigned to this site for such ` +
        `senders (${known}): choose one of them, or ask the operator`,
      at: 'allowedIps',
    })),
  ];
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
