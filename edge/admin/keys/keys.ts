/**
 * Creating and changing API keys, the same for the console and its JSON API: parse, check the record as a whole, look at
 * its JWKS, write it with its history. The second of two administrators who edit one version is told.
 */
import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import { type KeyRecord, type KeyRow, readKey, writeKey } from '../../store/admin-key.ts';
import {
  checkJwksOf,
  checkOneJwks,
  checkTogether,
  jwksText,
  type JwksFindings,
  refusal,
  thumbprintsOf,
} from './rules.ts';
import { jwksMembers, keyChange, newKey, type KeyChange, type NewKey } from './schema.ts';
import { parse } from '../api/parse.ts';
import { type Actor, requirePermission } from '../staff/permissions.ts';

/** What of a runtime making keys needs: also a program without one. */
export type KeyDeps = Pick<Deps, 'config' | 'database' | 'fetch' | 'resolveHost'>;

export interface SavedKey {
  readonly key: KeyRow;
  readonly findings: JwksFindings;
}

export const noSuchKey = () => new Fault('not-found', 'no such API key');

/** @throws Fault `invalid` naming each field; `forbidden` without the permission */
export async function createKey(deps: KeyDeps, actor: Actor, given: unknown): Promise<SavedKey> {
  requirePermission(actor, 'site.api_keys.create');
  const input = parseNewKey(given);
  const record: KeyRecord = {
    name: input.name,
    status: input.status,
    jwks_uri: input.jwksUri,
    jwks: jwksText(input.jwks),
    token_ttl_seconds: input.tokenTtlSeconds,
    allowed_scopes: input.allowedScopes,
    allowed_audiences: input.allowedAudiences,
    // spec.md: default `fhir` when empty on create.
    protocols: input.protocols.length === 0 ? ['fhir'] : input.protocols,
    allowed_ips: input.allowedIps,
    hl7_sender_application: input.hl7SenderApplication,
    hl7_sender_facility: input.hl7SenderFacility,
  };
  return save(deps, actor, `svc-${crypto.randomUUID()}`, null, record, record);
}

/** All findings at once: what is wrong with a member, and that there is no JWKS or one too many. */
function parseNewKey(given: unknown): NewKey {
  try {
    return parse(newKey, given, 'invalid', 'the API key');
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { jwksUri, jwks } = jwksMembers.parse(given);
    const located = new Set(error.issues.map(({ at }) => at));
    const issues = checkOneJwks(jwksUri === '' ? null : jwksUri, jwksText(jwks)).filter(({ at }) => !located.has(at));
    throw refusal([...error.issues, ...issues]);
  }
}

/** Which permission each kind of change needs: disabling is a right of its own. */
function requireRights(actor: Actor, { status, ...others }: KeyChange): void {
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
  given: unknown,
): Promise<SavedKey> {
  const [current] = await deps.database.run(readKey(actor.site, clientId));
  if (current === undefined) throw noSuchKey();
  const change = parse(keyChange, given, 'invalid', 'the change');
  requireRights(actor, change);
  if (expected.length > 0 && !expected.includes(current.version)) throw anotherVersion(current.version);
  const changed = toColumns(change);
  return save(deps, actor, clientId, expected, { ...current, ...changed }, changed);
}

function toColumns(change: KeyChange): Partial<KeyRecord> {
  const { name, status, jwksUri, tokenTtlSeconds, allowedScopes, allowedAudiences, protocols, allowedIps } = change;
  const columns: { [Column in keyof KeyRecord]: KeyRecord[Column] | undefined } = {
    name,
    status,
    jwks_uri: jwksUri,
    jwks: 'jwks' in change ? jwksText(change.jwks) : undefined,
    token_ttl_seconds: tokenTtlSeconds,
    allowed_scopes: allowedScopes,
    allowed_audiences: allowedAudiences,
    protocols,
    allowed_ips: allowedIps,
    hl7_sender_application: change.hl7SenderApplication,
    hl7_sender_facility: change.hl7SenderFacility,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

const anotherVersion = (version: number) =>
  new Fault('precondition-failed', `the key was changed meanwhile: it is now at version ${version}`);

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
    by: `${actor.name} (${actor.subject})`,
    record,
    ownedThumbprints: isLooked ? owned : null,
    foreignThumbprints: foreign,
  });
  const [[written], [key]] = await deps.database
    .batch([write, readKey(actor.site, clientId)])
    .catch((error: unknown) => {
      throw takenKey(error, rules.jwks === null ? 'jwksUri' : 'jwks', names);
    });
  if (written?.outcome === 'version') throw anotherVersion(written.version);
  if (key === undefined || written?.outcome === 'missing') throw missing(expected);
  return { key, findings };
}

const RULE_COLUMNS = ['jwks', 'jwks_uri', 'protocols', 'allowed_ips'] as const satisfies readonly (keyof KeyRecord)[];
const isRuleTouched = (record: Partial<KeyRecord>): boolean => RULE_COLUMNS.some((column) => column in record);

const missing = (expected: readonly number[] | null) =>
  expected === null ? new Fault('forbidden', 'the site of your account is not known to this gateway') : noSuchKey();

/** The database's conflict, as a finding beside the field: which public key another API key has. */
function takenKey(error: unknown, field: string, names: readonly string[]): unknown {
  if (!(error instanceof Fault) || error.kind !== 'conflict') return error;
  return refusal(
    error.issues.map(({ at }) => ({
      code: 'duplicate',
      message: `the public key ${names[Number(at)] ?? ''} already belongs to another API key: make a key pair for each client`,
      at: field,
    })),
  );
}
