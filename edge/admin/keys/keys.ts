/**
 * Creating and changing API keys, the same for the console and its JSON API: parse, check the record as a whole, look at
 * its JWKS, write it with its history. The second of two administrators who edit one version is told.
 */
import * as z from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import type { Database, Deps } from '../../deps.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';
import { changedMeanwhile } from '../api/if-match.ts';
import { parseAsFarAs } from '../api/parse.ts';
import { newRecord, recordChange, toColumns } from '../record/member.ts';
import { noSuchSite } from '../settings/site.ts';
import { type Actor, authorOf, requirePermission } from '../staff/permissions.ts';
import { DEFAULT_PROTOCOLS, KEY_MEMBERS, type KeyRecord } from './record.ts';
import { readPublicKeys } from './public-keys.ts';
import {
  checkTogether,
  type JwksFindings,
  lookAtKeys,
  MAX_JWKS_CHARACTERS,
  NOTHING_SEEN,
  refusal,
  type Rules,
  thumbprintsOf,
} from './rules.ts';
import { type KeyRow, readKey, writeKey } from './statements.ts';
import { keyRefused } from '../../store/admin-key.ts';
import { inSite } from '../../store/in-site.ts';
import { siteAddresses, type SiteAddressRow } from '../../store/site-address.ts';

/** What creates a key: only what is required must be there. */
export const newKey = newRecord(KEY_MEMBERS);
/** What changes a key: the members that change. */
export const keyChange = recordChange(KEY_MEMBERS);

/** What of a runtime making keys needs: also a program without one. */
export type KeyDeps = Pick<Deps, 'database'> & GuardedFetching;

export interface SavedKey {
  readonly key: KeyRow;
  readonly findings: JwksFindings;
}

export const noSuchKey = () => new Fault('not-found', 'no such API key');

/** A key of the site. @throws Fault `not-found` */
export async function requireKey(database: Database, site: string, clientId: string): Promise<KeyRow> {
  const [key] = await inSite(database, site).run(readKey(site, clientId));
  if (key === undefined) throw noSuchKey();
  return key;
}

/** @throws Fault `invalid` naming each field; `forbidden` without the permission */
export async function createKey(deps: KeyDeps, actor: Actor, body: unknown): Promise<SavedKey> {
  requirePermission(actor, 'site.api_keys.create');
  const { data, issues } = parseAsFarAs(newKey, body, 'the API key');
  const given = toColumns(KEY_MEMBERS, data);
  // A list without any protocol says as little as none at all.
  const protocols = given.protocols?.length === 0 ? DEFAULT_PROTOCOLS : given.protocols;
  const record = protocols === undefined ? given : { ...given, protocols };
  return save(deps, actor, { clientId: `svc-${crypto.randomUUID()}`, current: null, expected: null, record, issues });
}

/** Which permission each kind of change needs: disabling is a right of its own. */
function requireRights(actor: Actor, { status, ...others }: Partial<KeyRecord>): void {
  if (status === 'disabled') requirePermission(actor, 'site.api_keys.disable');
  if (status === 'active' || Object.keys(others).length > 0 || status === undefined) {
    requirePermission(actor, 'site.api_keys.update');
  }
}

/**
 * @param expected the versions that may be overwritten; none of them meaning any
 * @throws Fault `not-found`, `precondition-failed` for another version, `invalid` naming each field
 */
export async function changeKey(
  deps: KeyDeps,
  actor: Actor,
  clientId: string,
  expected: readonly number[],
  body: unknown,
): Promise<SavedKey> {
  const current = await requireKey(deps.database, actor.site, clientId);
  const { data, issues } = parseAsFarAs(keyChange, body, 'the change');
  const record = toColumns(KEY_MEMBERS, data);
  requireRights(actor, record);
  if (expected.length > 0 && !expected.includes(current.version))
    throw changedMeanwhile('the key was', current.version);
  return save(deps, actor, { clientId, current, expected, record, issues });
}

interface Saving {
  readonly clientId: string;
  /** Null to create. */
  readonly current: KeyRow | null;
  readonly expected: readonly number[] | null;
  /** What could be read of what was sent. */
  readonly record: Partial<KeyRecord>;
  /** What is wrong with the rest. */
  readonly issues: readonly Issue[];
}

/** The inline public keys as the JWKS that is kept. */
async function withJwks(record: Partial<KeyRecord>): Promise<{ record: Partial<KeyRecord>; issues: readonly Issue[] }> {
  if (typeof record.jwks !== 'string' || record.jwks.length > MAX_JWKS_CHARACTERS) return { record, issues: [] };
  const read = await readPublicKeys(record.jwks);
  if ('jwks' in read) return { record: { ...record, jwks: read.jwks }, issues: [] };
  return { record, issues: [{ code: 'invalid', message: read.problem, at: 'jwks' }] };
}

/** Everything that is wrong is found before any of it is told. */
async function save(deps: KeyDeps, actor: Actor, saving: Saving): Promise<SavedKey> {
  const { clientId, current, expected } = saving;
  const { record, issues } = await withJwks(saving.record);
  const found = [...saving.issues, ...issues];
  const whole = { ...current, ...record };
  const rules = rulesOf(whole, found);
  // Keys that do not change are not looked at again: disabling must work also when they have become unacceptable.
  const isLooked = current === null || 'jwks' in record || 'jwks_uri' in record;
  const broken = current === null || isRuleTouched(record) ? checkTogether(rules) : [];
  const located = new Set(found.map(({ at }) => at));
  // One finding of a field is enough: what could not be read as keys is not looked at as a JWKS.
  const looked = {
    jwksUri: located.has('jwksUri') ? null : rules.jwksUri,
    jwks: located.has('jwks') ? null : rules.jwks,
  };
  const { issues: ofKeys, findings } = isLooked ? await lookAtKeys(deps, looked) : NOTHING_SEEN;
  const wrong = [...found, ...broken.filter(({ at }) => !located.has(at)), ...ofKeys];

  const database = inSite(deps.database, actor.site);
  const { owned, foreign, names } = await thumbprintsOf(findings, rules.jwks !== null);
  const ofOthers = () =>
    foundByDatabase(database, actor.site, clientId, {
      thumbprints: [...owned, ...foreign],
      names,
      keysField: rules.jwks === null ? 'jwksUri' : 'jwks',
      sender: isSenderRead(found) && isSenderTouched(current, record) ? whole : undefined,
    });
  if (wrong.length > 0) throw refusal([...wrong, ...(await ofOthers())]);

  const write = writeKey({
    site: actor.site,
    clientId,
    expected,
    by: authorOf(actor),
    record,
    ownedThumbprints: isLooked ? owned : null,
    foreignThumbprints: foreign,
  });
  const [[written], [key]] = await database
    .batch([write, readKey(actor.site, clientId)])
    .catch(async (error: unknown) => {
      if (!(error instanceof Fault) || error.rows === undefined) throw error;
      const refused = await ofOthers();
      throw refused.length > 0 ? refusal(refused) : error;
    });
  if (written?.outcome === 'version') throw changedMeanwhile('the key was', written.version);
  if (key === undefined || written?.outcome === 'missing') throw missing(expected);
  return { key, findings };
}

/** What the rules look at. A member that could not be read counts as given, since it has a finding of its own. */
function rulesOf(whole: Partial<KeyRecord>, found: readonly Issue[]): Rules {
  const isUnread = (member: string) => found.some(({ at }) => fieldAt(at) === member);
  return {
    jwksUri: isUnread('jwksUri') ? UNREAD : (whole.jwks_uri ?? null),
    jwks: whole.jwks ?? null,
    protocols: whole.protocols ?? [UNREAD],
    allowedIps: whole.allowed_ips ?? [UNREAD],
  };
}

/** Stands for what could not be read. */
const UNREAD = '?';

const RULE_COLUMNS = ['jwks', 'jwks_uri', 'protocols', 'allowed_ips'] as const satisfies readonly (keyof KeyRecord)[];
const isRuleTouched = (record: Partial<KeyRecord>): boolean => RULE_COLUMNS.some((column) => column in record);

const missing = (expected: readonly number[] | null) => (expected === null ? noSuchSite() : noSuchKey());

/** What a key for MLLP says of its senders: columns, and the fields they come from. */
const SENDER = [
  ['protocols', 'protocols'],
  ['allowed_ips', 'allowedIps'],
  ['hl7_sender_application', 'hl7SenderApplication'],
  ['hl7_sender_facility', 'hl7SenderFacility'],
  ['tls_subject', 'tlsSubject'],
] as const satisfies readonly (readonly [keyof KeyRecord, string])[];

const fieldAt = (at: string | undefined): string | undefined => at?.split(/[.[]/)[0];

/** Whether all of it could be read. */
const isSenderRead = (found: readonly Issue[]): boolean =>
  !found.some(({ at }) => SENDER.some(([, field]) => field === fieldAt(at)));

/** As api_key_write.sql says it: what is as it was is not judged again, unless the key is enabled. */
const isSenderTouched = (current: KeyRow | null, record: Partial<KeyRecord>): boolean =>
  current === null ||
  (current.status !== 'active' && record.status === 'active') ||
  SENDER.some(([column]) => column in record && String(record[column]) !== String(current[column]));

interface AskedOfDatabase {
  readonly thumbprints: readonly string[];
  /** What the key at each of these positions calls itself. */
  readonly names: readonly string[];
  /** Where they were given. */
  readonly keysField: 'jwks' | 'jwksUri';
  /** The key whose addresses are to be judged. */
  readonly sender: Partial<KeyRecord> | undefined;
}

/** What only the database knows, as findings beside the fields: public keys of others, and addresses that are not the site's. */
async function foundByDatabase(
  database: Database,
  site: string,
  clientId: string,
  { thumbprints, names, keysField, sender }: AskedOfDatabase,
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
  const [[refused], own] = await database.batch([keyRefused(site, clientId, asked), siteAddresses(site)]);
  const ranges = own.map(({ range, ...only }) => [range, ...sendersTold(only)].join(' '));
  const known = ranges.length === 0 ? 'none are so far' : `these are: ${ranges.join(', ')}`;
  return [
    ...positionsIn(refused?.taken).map((position) => ({
      code: 'duplicate',
      message: `the public key ${names[position] ?? ''} already belongs to another API key: make a key pair for each client`,
      at: keysField,
    })),
    ...positionsIn(refused?.foreign).map((position) => ({
      code: 'invalid',
      message:
        `${allowedIps[position] ?? ''} is not among the source addresses that the operator of the gateway has assigned ` +
        `to this site for such senders (${known}): choose from them, or ask the operator`,
      at: 'allowedIps',
    })),
  ];
}

const positionsIn = (json: string | null | undefined): number[] => z.array(z.number()).parse(JSON.parse(json ?? '[]'));

/** Which senders an assignment is for, where not for all. */
function sendersTold({ application, facility, tls_subject: subject }: Omit<SiteAddressRow, 'range'>): string[] {
  const marks = [
    ...(application === '' ? [] : [`MSH-3 ${application}`]),
    ...(facility === '' ? [] : [`MSH-4 ${facility}`]),
    ...(subject === '' ? [] : [`TLS subject ${subject}`]),
  ];
  return marks.length === 0 ? [] : [`(${marks.join(', ')})`];
}
