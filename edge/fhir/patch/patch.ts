/**
 * patch and its conditional form (FHIR R4 http, 3.1.0.6). The gateway reads the resource, applies the patch and writes the
 * result as an update of the version that it read. So the result is validated like other resources.
 * The version check keeps simultaneous patches from losing each other's changes.
 */
import { Fault } from '../../../shared/fault.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
  printJson,
  sortedJson,
} from '../../../shared/json.ts';
import { isUuid, uuidv7 } from '../../../shared/uuid.ts';
import type { ResourceType } from '../../../shared/resource-type.ts';
import { Budget } from '../../limits.ts';
import { parseStored, type StoredResource } from '../../store/resource.ts';
import { type LookupRow, lookUpResources, type LookupTarget } from '../../store/resource-lookup.ts';
import { type FoundBy, readCondition } from '../conditions.ts';
import { NO_RESOURCE, preconditionOf, type RequestHeaders, requirePreconditions } from '../conditional-headers.ts';
import { auditedTogether, type Interaction, type Lookup, type RequestContext } from '../interaction.ts';
import { type CheckedWrite, lockKeysOf } from '../plan-write.ts';
import { conditionFault, unknownId } from '../refused-write.ts';
import { requireValid } from '../resource-body.ts';
import { applyPatch } from './apply.ts';
import { type CutData, cutData } from './cut-data.ts';
import type { Operation } from './operations.ts';
import { malformedAt } from '../controls/faults.ts';

/** The resource to patch: by its id, or by a condition. */
export type PatchTarget = { readonly id: string } | FoundBy;

export interface Patch {
  readonly type: ResourceType;
  readonly target: PatchTarget;
  readonly headers: RequestHeaders;
  readonly operations: readonly Operation[];
}

/**
 * @param headers `If-Match`, `If-Unmodified-Since`
 * @throws Fault `malformed` for an invalid condition
 */
export function patchOf(
  type: ResourceType,
  target: PatchTarget,
  operations: readonly Operation[],
  headers: RequestHeaders,
): Patch {
  const { expect } = preconditionOf(headers);
  if (expect !== null && expect !== 'any' && expect.includes(NO_RESOURCE)) {
    throw new Fault(
      'precondition-failed',
      'If-None-Match: * is always false for a patch, which needs an existing resource',
    );
  }
  return { type, target, operations, headers };
}

/** @param query the search parameters that find the resource */
export const foundBy = (context: RequestContext, type: ResourceType, query: string): PatchTarget =>
  readCondition(context, 'patch', type, query);

/**
 * The lookup of the resources that patches change.
 *
 * @param action the type of the bundle with the patches; null: one patch, whose lookup is a read or a search
 * @param prepare gets the rows of each patch: none, one, or two where the condition finds several resources. Each attempt has
 *   its own budget
 */
export function lookUpPatched(
  context: RequestContext,
  action: 'batch' | 'transaction' | null,
  patches: readonly Patch[],
  prepare: (attempt: RequestContext, found: readonly (readonly LookupRow[])[]) => Interaction | Promise<Interaction>,
): Lookup {
  const targets = patches.map(({ type, target }): LookupTarget => {
    if ('criteria' in target) return { type, criteria: target.criteria };
    // An invalid id finds nothing.
    return isUuid(target.id) ? { type, id: target.id } : { type, criteria: [{ kind: 'id', ids: [] }] };
  });
  const query = lookUpResources(context.caller.site, targets);
  return {
    audited: auditedTogether(
      action,
      patches.map(({ target }) => ('names' in target ? target.names : null)),
    ),
    queries: [query],
    prepare: (rowsOf) => {
      const found = Map.groupBy(rowsOf(query), ({ n }) => n);
      return prepare(
        { ...context, budget: new Budget() },
        patches.map((_, n) => found.get(n) ?? []),
      );
    },
  };
}

function stored(type: ResourceType, { version, last_updated, meta, body, id }: LookupRow): StoredResource {
  if (meta === null || body === null) {
    throw new Fault('invalid', 'The resources to patch are too large for one Bundle: send several Bundles.', {
      code: 'too-costly',
    });
  }
  return { type, id, version, last_updated, meta, body };
}

const depthOf = (value: Json): number => {
  if (Array.isArray(value)) return 1 + value.reduce<number>((deepest, item) => Math.max(deepest, depthOf(item)), 0);
  return isJsonObject(value) ? depthOf(Object.values(value)) : 0;
};

/** The result has the limits of a body. A resource that is larger already may not grow. */
function requireFit(
  { maxBodyBytes }: RequestContext,
  withData: CutData['withData'],
  before: JsonObject,
  after: Json,
): void {
  const text = printJson(after);
  // Documents are ASCII.
  const bytes = (json: string): number =>
    new TextEncoder().encode(json).byteLength + withData(json).length - json.length;
  if (depthOf(after) > MAX_JSON_DEPTH) {
    throw new Fault('malformed', `the patched resource nests deeper than ${MAX_JSON_DEPTH} levels`);
  }
  // A character is three bytes at most.
  if (withData(text).length * 3 <= maxBodyBytes) return;
  if (bytes(text) <= Math.max(maxBodyBytes, bytes(printJson(before)))) return;
  throw new Fault('too-large', `the patched resource would be larger than ${maxBodyBytes} bytes`);
}

/** Ids and versions belong to the server, so the result is checked as the body of an update. */
function patched(
  context: RequestContext,
  { type, operations }: Patch,
  found: StoredResource,
  withData: CutData['withData'],
): JsonObject {
  const before = parseStored(found);
  const after = applyPatch(before, operations, context.budget);
  requireFit(context, withData, before, after);
  const valid = requireValid(context, type, after);
  if (valid['id'] !== undefined && valid['id'] !== before['id']) {
    throw malformedAt(`${type}.id`, 'a patch cannot change the id of a resource, which is the one in the URL');
  }
  // The same members in another order make no version, so the stored order is kept.
  return sortedJson(valid) === sortedJson(before) ? before : valid;
}

/** The patched resource, and its documents where they are apart from it. */
function patchedApart(
  context: RequestContext,
  patch: Patch,
  found: StoredResource,
): Pick<CheckedWrite, 'content' | 'withData'> {
  const data = cutData(found.body);
  if (data !== undefined) {
    const operations = patch.operations.map((one) => ('value' in one ? { ...one, value: data.cut(one.value) } : one));
    const content = patched(context, { ...patch, operations }, { ...found, body: data.body }, data.withData);
    if (data.isPlaced(printJson(content))) return { content, withData: data.withData };
  }
  return { content: patched(context, patch, found, (text) => text) };
}

/**
 * @param found the rows of the lookup
 * @throws Fault 404 without a resource, 412 where a condition is false, 422 for an impossible operation, 400 for an invalid
 *   result
 */
export function checkPatch(context: RequestContext, patch: Patch, [found, other]: readonly LookupRow[]): CheckedWrite {
  const { type, target, headers } = patch;
  if (other !== undefined) throw conditionFault('ambiguous', { type, at: null });
  if (found === undefined && 'id' in target) throw unknownId(type);
  if (found === undefined)
    throw new Fault('not-found', `no ${type} matches the condition, so there is no resource to patch`);
  requirePreconditions(headers, found.version, found.last_updated);
  const content = patchedApart(context, patch, stored(type, found));
  const own = { type, interaction: 'patch', expect: [found.version], unmodifiedSince: null, ...content } as const;
  if ('id' in target) return { ...own, id: found.id, foundBy: null, required: null, lockKeys: [] };
  // The write repeats the condition, which must still find this resource and no other.
  return {
    ...own,
    id: uuidv7(context.now),
    foundBy: target,
    required: found.id,
    lockKeys: lockKeysOf(type, target.criteria),
  };
}
