/**
 * patch and its conditional form (FHIR R4 http, 3.1.0.6): the resource is read, patched here and written as an update is,
 * if it is still at the version that was read. So the result is validated like any other, and no patch is lost or undone.
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
import { parseStored } from '../../store/resource.ts';
import { type SeenRow, seeResources, type Sought } from '../../store/resource-seen.ts';
import { type FoundBy, readCondition } from '../conditions.ts';
import { NOT_THERE, preconditionOf, type RequestHeaders, requireStillSo } from '../conditional-headers.ts';
import { auditedTogether, type Interaction, type Look, type RequestContext } from '../interaction.ts';
import { type Draft, lockKeysOf } from '../plan-write.ts';
import { conditionFault, unknownId } from '../refused-write.ts';
import { requireValid } from '../resource-body.ts';
import { applyPatch } from './apply.ts';
import type { Operation } from './operations.ts';

/** What is patched: the resource with the id, or the one that is found. */
export type PatchTarget = { readonly id: string } | FoundBy;

export interface Patch {
  readonly type: ResourceType;
  readonly target: PatchTarget;
  readonly headers: RequestHeaders;
  readonly operations: readonly Operation[];
}

/**
 * @param headers `If-Match`, `If-Unmodified-Since`
 * @throws Fault `malformed` for a condition that cannot be read
 */
export function patchOf(
  type: ResourceType,
  target: PatchTarget,
  operations: readonly Operation[],
  headers: RequestHeaders,
): Patch {
  const { expect } = preconditionOf(headers);
  if (expect === NOT_THERE) {
    throw new Fault('precondition-failed', 'If-None-Match: * cannot hold for a patch: what is patched is there');
  }
  return { type, target, operations, headers };
}

/** @param query the search parameters that find the resource */
export const foundBy = (context: RequestContext, type: ResourceType, query: string): PatchTarget =>
  readCondition(context, 'patch', type, query);

/**
 * What has to be read before anything can be patched.
 *
 * @param action the bundle that the patches are entries of; null: one patch, whose reading is a read or a search
 * @param prepare gets for each patch what was found: no row, one, or two where it is not told which is meant
 */
export function lookFor(
  { caller }: RequestContext,
  action: 'batch' | 'transaction' | null,
  patches: readonly Patch[],
  prepare: (seen: readonly (readonly SeenRow[])[]) => Interaction | Promise<Interaction>,
): Look {
  const sought = patches.map(({ type, target }): Sought => {
    if ('criteria' in target) return { type, criteria: target.criteria };
    // What cannot be an id finds nothing.
    return isUuid(target.id) ? { type, id: target.id } : { type, criteria: [{ kind: 'id', ids: [] }] };
  });
  const query = seeResources(caller.site, sought);
  return {
    audited: auditedTogether(
      action,
      patches.map(({ target }) => ('names' in target ? target.names : null)),
    ),
    queries: [query],
    prepare: (rowsOf) => {
      const seen = Map.groupBy(rowsOf(query), ({ n }) => n);
      return prepare(patches.map((_, n) => seen.get(n) ?? []));
    },
  };
}

function stored(type: ResourceType, { version, last_updated, meta, body, id }: SeenRow): JsonObject {
  if (meta === null || body === null) {
    throw new Fault('invalid', 'the resources to be patched are too large for one Bundle: send several', {
      code: 'too-costly',
    });
  }
  return parseStored({ type, id, version, last_updated, meta, body });
}

const depthOf = (value: Json): number => {
  if (Array.isArray(value)) return 1 + value.reduce<number>((deepest, item) => Math.max(deepest, depthOf(item)), 0);
  return isJsonObject(value) ? depthOf(Object.values(value)) : 0;
};

/** What a patch makes of a resource has the limits of a body; what was larger may stay so, but not grow. */
function requireFit({ maxBodyBytes }: RequestContext, before: JsonObject, after: Json): void {
  const text = printJson(after);
  if (depthOf(after) > MAX_JSON_DEPTH) {
    throw new Fault('malformed', `the patched resource nests deeper than ${MAX_JSON_DEPTH} levels`);
  }
  // A character is three bytes at most.
  if (text.length * 3 <= maxBodyBytes) return;
  const bytes = (json: string): number => new TextEncoder().encode(json).byteLength;
  if (bytes(text) <= Math.max(maxBodyBytes, bytes(printJson(before)))) return;
  throw new Fault('too-large', `the patched resource would be larger than ${maxBodyBytes} bytes`);
}

/** The ids and versions are the server's: what a patch makes of them is judged as in the body of an update. */
function patched(context: RequestContext, { type, operations }: Patch, before: JsonObject): JsonObject {
  const after = applyPatch(before, operations);
  requireFit(context, before, after);
  const valid = requireValid(type, after);
  if (valid['id'] !== undefined && valid['id'] !== before['id']) {
    const message = 'the id of a resource cannot be patched: it is the one in the URL';
    throw new Fault('malformed', message, { issues: [{ code: 'value', message, at: `${type}.id` }] });
  }
  // In another order it is the same, and as it is stored it makes no version.
  return sortedJson(valid) === sortedJson(before) ? before : valid;
}

/**
 * @param seen as `lookFor` gives it
 * @throws Fault 404 where there is nothing, 412 where it is not as the conditions have it, 422 for what cannot be done to
 *   it, 400 for a result that is no valid resource
 */
export function draftPatch(context: RequestContext, patch: Patch, [found, other]: readonly SeenRow[]): Draft {
  const { type, target, headers } = patch;
  if (other !== undefined) throw conditionFault('ambiguous', { type, at: null });
  if (found === undefined && 'id' in target) throw unknownId(type);
  if (found === undefined) throw new Fault('not-found', `no ${type} matches the condition: there is nothing to patch`);
  requireStillSo(headers, found.version, found.last_updated);
  const content = patched(context, patch, stored(type, found));
  const own = { type, interaction: 'patch', expect: found.version, unmodifiedSince: null, content } as const;
  if ('id' in target) return { ...own, id: found.id, foundBy: null, required: null, lockKeys: [] };
  // Asked again when it is written, so that the same resource is still the only one that is found.
  return {
    ...own,
    id: uuidv7(context.now),
    foundBy: target,
    required: found.id,
    lockKeys: lockKeysOf(type, target.criteria),
  };
}
