/** Compares the API keys of a file with those of its site. */
import type { Issue } from '../../../shared/fault.ts';
import { indexBy } from '../../../shared/index-by.ts';
import { isJsonObject, type Json } from '../../../shared/json.ts';
import { newClientId } from '../../../shared/oauth/client-id.ts';
import { publicMembersOf } from '../../../shared/oauth/jwks.ts';
import { KEY_MEMBERS, type KeyRecord } from '../../members/api-key.ts';
import { inSite } from '../../store/in-site.ts';
import {
  issuesOfDatabase,
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
import type { Actor } from '../staff/actor.ts';
import type { SiteFile } from './file.ts';
import {
  canonical,
  type Change,
  differing,
  type KeyAfter,
  type KeysAfter,
  type Part,
  type PlanDeps,
  type PlanOptions,
  under,
} from './part.ts';
import type { PlannedMember } from './planned.ts';
import type { RulesOfFile } from './plan-rules.ts';
import type { SiteState } from './state.ts';

/** An API key that the file makes or has. */
export interface KeyOfFile {
  readonly name: string;
  readonly clientId: string;
}

type FileKey = NonNullable<SiteFile['apiKeys']>[number];

/** An API key of the file, and the stored key that it is about. */
interface Matched {
  readonly at: string;
  /** The Client ID in the file. */
  readonly given: string | undefined;
  readonly name: string;
  /** Null for a new key. */
  readonly stored: VersionedKey | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** Undefined if the file leaves them out. */
  readonly rules: unknown;
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
  for (const [index, { clientId, rules, ...body }] of given.entries()) {
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
      else matched.push({ at, given: clientId, name: name === '' ? stored.name : name, stored, body, rules });
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
    else matched.push({ at, given: clientId, name, stored: found[0] ?? null, body, rules });
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

/** Names a key by its JWKS URI, and by each of its public keys. */
const keyNames = ({ jwks, jwks_uri: uri }: Partial<KeyRecord>): string[] => [
  ...(typeof uri === 'string' ? [uri] : []),
  ...(typeof jwks === 'string' ? publicKeysOf(jwks) : []),
];

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

function keysAfter(
  state: SiteState,
  matched: readonly Matched[],
  changed: readonly KeyChange[],
  disabled: readonly VersionedKey[],
  { copy }: PlanOptions,
): KeysAfter {
  const after = new Map<string, KeyAfter>(
    state.keys.map((key) => [key.client_id, { clientId: key.client_id, name: key.name, record: key, isNew: false }]),
  );
  for (const { clientId, name, stored, prepared } of changed) {
    const record: Partial<KeyRecord> = { ...stored, ...prepared.record };
    after.set(clientId, { clientId, name: record.name ?? name, record, isNew: stored === null });
  }
  for (const key of disabled)
    after.set(key.client_id, {
      clientId: key.client_id,
      name: key.name,
      record: { ...key, status: 'disabled' },
      isNew: false,
    });
  const created = new Map(changed.map(({ at, clientId }) => [at, clientId]));
  const byGiven = new Map(
    matched.map(({ at, given, stored }) => [given, after.get(stored?.client_id ?? created.get(at) ?? '')]),
  );
  const byName = indexBy(after.values(), ({ name }) => [name]);
  return {
    ofId: (clientId) => after.get(clientId),
    named(given) {
      const [only, ...others] = byName.get(given.trim()) ?? [];
      return byGiven.get(given) ?? (copy ? undefined : after.get(given)) ?? (others.length === 0 ? only : undefined);
    },
  };
}

/** JWKS URIs that are loaded at the same time. */
const TOGETHER = 20;

export async function planKeys(
  deps: PlanDeps,
  actor: Actor,
  state: SiteState,
  given: readonly FileKey[],
  options: PlanOptions,
  addsAddresses: boolean,
): Promise<
  Part & {
    readonly clientIds: readonly KeyOfFile[];
    readonly unmentioned: readonly VersionedKey[];
    readonly after: KeysAfter;
    readonly rules: readonly RulesOfFile[];
  }
> {
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
  const created = changed.filter(({ stored }) => stored === null);
  const unmentionedByKey = indexBy(created.length === 0 ? [] : unmentioned, keyNames);
  /** A stored key with the public keys of a new one, if the file has no entry for it: it may have been renamed. */
  const renamedFrom = (record: Partial<KeyRecord>): VersionedKey | undefined =>
    keyNames(record).flatMap((name) => unmentionedByKey.get(name) ?? [])[0];
  const owners = new Map<string, string>();
  for (const [index, { at, name, stored, prepared }] of changed.entries()) {
    const former = stored === null ? renamedFrom(prepared.record) : undefined;
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

  const present = state.keys.map(({ name, client_id: clientId }) => ({ name, clientId }));
  const idsByName = indexBy([...present, ...created], ({ name }) => [name]);
  const changes = changed.map(({ name, stored, clientId, prepared, members }): Change => {
    const permissions = stored === null ? (['site.api_keys.create'] as const) : permissionsOfChange(prepared.record);
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
        known: stored === null ? (idsByName.get(name) ?? []).map(({ clientId: id }) => id) : [],
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
  const idOfMatched = ({ at, stored }: Matched): string => stored?.client_id ?? idOf.get(at) ?? '';
  return {
    changes: [...changes, ...disabled],
    issues,
    warnings,
    unmentioned,
    after: keysAfter(state, matched, changed, pruned, options),
    clientIds: matched.map((each) => ({ name: each.name, clientId: idOfMatched(each) })),
    rules: matched
      .filter(({ rules }) => rules !== undefined)
      .map((each) => ({ ...each, clientId: idOfMatched(each), isNew: each.stored === null })),
  };
}
