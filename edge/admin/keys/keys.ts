/**
 * Creating and changing API keys, the same for the console and its JSON API: parse, check the record as a whole, look at
 * its JWKS, write it with its history. The second of two administrators who edit one version is told.
 */
import { z } from 'zod';

import { Fault } from '../../../shared/fault.ts';
import type { Database, Deps } from '../../deps.ts';
import type { GuardedFetching } from '../../http/guarded-fetch.ts';
import { changedMeanwhile } from '../api/if-match.ts';
import { parse } from '../api/parse.ts';
import { newRecord, recordChange, toColumns, toRecord } from '../record/member.ts';
import { noSuchSite } from '../settings/site.ts';
import { type Actor, authorOf, requirePermission } from '../staff/permissions.ts';
import { DEFAULT_PROTOCOLS, KEY_MEMBERS, type KeyRecord } from './record.ts';
import { checkJwksOf, checkOneJwks, checkTogether, type JwksFindings, refusal, thumbprintsOf } from './rules.ts';
import { type KeyRow, readKey, writeKey } from './statements.ts';
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
  const given = parseNewKey(body);
  // A list without any protocol says as little as none at all.
  const protocols = given.protocols.length === 0 ? DEFAULT_PROTOCOLS : given.protocols;
  const record = { ...given, protocols };
  return save(deps, actor, `svc-${crypto.randomUUID()}`, null, record, record);
}

/** All findings at once: what is wrong with a member, and that there is no JWKS or one too many. */
function parseNewKey(body: unknown): KeyRecord {
  try {
    return toRecord(KEY_MEMBERS, parse(newKey, body, 'invalid', 'the API key'));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { jwksUri, jwks } = jwksMembers.parse(body);
    const located = new Set(error.issues.map(({ at }) => at));
    throw refusal([...error.issues, ...checkOneJwks(jwksUri, jwks).filter(({ at }) => !located.has(at))]);
  }
}

/** The two members of which one must be there, from whatever was sent. */
const jwksMembers = z
  .object({
    jwksUri: KEY_MEMBERS.jwksUri.schema.catch(null),
    jwks: KEY_MEMBERS.jwks.schema,
  })
  .catch({ jwksUri: null, jwks: null });

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
  const changed = toColumns(KEY_MEMBERS, parse(keyChange, body, 'invalid', 'the change'));
  requireRights(actor, changed);
  if (expected.length > 0 && !expected.includes(current.version))
    throw changedMeanwhile('the key was', current.version);
  return save(deps, actor, clientId, expected, { ...current, ...changed }, changed);
}

async function save(
  deps: KeyDeps,
  actor: Actor,
  clientId: string,
  expected: readonly number[] | null,
  whole: KeyRecord,
  record: Partial<KeyRecord>,
): Promise<SavedKey> {
  const rules = {
    jwksUri: whole.jwks_uri,
    jwks: whole.jwks,
    protocols: whole.protocols,
    allowedIps: whole.allowed_ips,
  };
  // Keys that do not change are not looked at again: disabling must work also when they have become unacceptable.
  const isLooked = expected === null || 'jwks' in record || 'jwks_uri' in record;
  const broken = isRuleTouched(record) || expected === null ? checkTogether(rules) : [];
  const findings = isLooked ? await checkJwksOf(deps, rules, broken) : { keys: [] };
  if (!isLooked && broken.length > 0) throw refusal(broken);

  const { owned, foreign, names } = await thumbprintsOf(findings, rules.jwks !== null);
  const write = writeKey({
    site: actor.site,
    clientId,
    expected,
    by: authorOf(actor),
    record,
    ownedThumbprints: isLooked ? owned : null,
    foreignThumbprints: foreign,
  });
  const [[written], [key]] = await inSite(deps.database, actor.site)
    .batch([write, readKey(actor.site, clientId)])
    .catch(async (error: unknown) => {
      const foreign = await foreignAddresses(deps.database, actor.site, error, whole.allowed_ips);
      throw foreign ?? takenKey(error, rules.jwks === null ? 'jwksUri' : 'jwks', names);
    });
  if (written?.outcome === 'version') throw changedMeanwhile('the key was', written.version);
  if (key === undefined || written?.outcome === 'missing') throw missing(expected);
  return { key, findings };
}

const RULE_COLUMNS = ['jwks', 'jwks_uri', 'protocols', 'allowed_ips'] as const satisfies readonly (keyof KeyRecord)[];
const isRuleTouched = (record: Partial<KeyRecord>): boolean => RULE_COLUMNS.some((column) => column in record);

const missing = (expected: readonly number[] | null) => (expected === null ? noSuchSite() : noSuchKey());

/** The database's conflict, as a finding beside the field: which public key another API key has. */
function takenKey(error: unknown, field: string, names: readonly string[]): unknown {
  if (!(error instanceof Fault) || error.kind !== 'conflict' || error.rows === undefined) return error;
  return refusal(
    error.rows.map((position) => ({
      code: 'duplicate',
      message: `the public key ${names[position] ?? ''} already belongs to another API key: make a key pair for each client`,
      at: field,
    })),
  );
}

/** The database's refusal of addresses that are not the site's, as findings beside the field; undefined for another error. */
async function foreignAddresses(
  database: Database,
  site: string,
  error: unknown,
  allowedIps: readonly string[],
): Promise<Fault | undefined> {
  if (!(error instanceof Fault) || error.code !== 'foreign-address') return undefined;
  const own = await inSite(database, site).run(siteAddresses(site));
  const ranges = own.map(({ range, ...only }) => [range, ...sendersTold(only)].join(' '));
  const known = ranges.length === 0 ? 'none are so far' : `these are: ${ranges.join(', ')}`;
  return refusal(
    (error.rows ?? []).map((position) => ({
      code: 'invalid',
      message:
        `${allowedIps[position] ?? ''} is not among the source addresses that the operator of the gateway has assigned ` +
        `to this site for such senders (${known}): choose from them, or ask the operator`,
      at: 'allowedIps',
    })),
  );
}

/** Which senders an assignment is for, where not for all. */
function sendersTold({ application, facility, tls_subject: subject }: Omit<SiteAddressRow, 'range'>): string[] {
  const marks = [
    ...(application === '' ? [] : [`MSH-3 ${application}`]),
    ...(facility === '' ? [] : [`MSH-4 ${facility}`]),
    ...(subject === '' ? [] : [`TLS subject ${subject}`]),
  ];
  return marks.length === 0 ? [] : [`(${marks.join(', ')})`];
}
