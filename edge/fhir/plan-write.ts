/**
 * create, update, patch and their conditional forms (FHIR R4 http, 3.1.0.4, 3.1.0.5, 3.1.0.6, 3.1.0.8), in two steps that do no I/O. A
 * draft is what the request says, checked; a planned write is the row for the database, with its references settled,
 * which in a transaction needs the drafts of all entries.
 */
import { Fault } from '../../shared/fault.ts';
import type { Json, JsonObject } from '../../shared/json.ts';
import { isUuid, uuidv7 } from '../../shared/uuid.ts';
import type { Criterion } from '../store/search/kinds.ts';
import { identifierKey, type Locks } from '../store/lock.ts';
import { toWrite, type TransactionWrite } from '../store/resource.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Condition } from '../store/transaction.ts';
import { type FoundBy, readCondition } from './conditions.ts';
import { requireAffordableWrites } from './cost.ts';
import { preconditionOf, type RequestHeaders, requireNoVersion } from './conditional-headers.ts';
import { requireValid } from './resource-body.ts';
import type { RequestContext } from './interaction.ts';
import { relativeReferences, requirePatientReference } from './patient-reference.ts';
import { unknownId } from './refused-write.ts';

export interface Draft {
  readonly type: ResourceType;
  readonly interaction: 'create' | 'update' | 'patch';
  /** The resource's id; with a condition a new one, which stands for whatever is found. */
  readonly id: string;
  /** The version to replace, 0: none; null: any. */
  readonly expect: number | null;
  /** An ISO instant after which the resource may not have changed; null: no condition. */
  readonly unmodifiedSince: string | null;
  readonly foundBy: FoundBy | null;
  /** The id in the body of a conditional update, or what a patch was made for: the only one that may be found. */
  readonly required: string | null;
  readonly content: JsonObject;
  readonly lockKeys: readonly string[];
}

export interface PlannedWrite {
  readonly type: ResourceType;
  readonly write: TransactionWrite;
  readonly condition: Condition | null;
  /** The names of the condition's parameters, for the audit; null: none were searched by. */
  readonly searched: readonly string[] | null;
  readonly isPatch: boolean;
  readonly lockKeys: readonly string[];
}

/** Simultaneous requests with the same identifier, or else the same words, take turns. */
export function lockKeysOf(type: ResourceType, criteria: readonly Criterion[]): string[] {
  const values = criteria.flatMap((criterion) =>
    criterion.kind === 'identifier' ? criterion.any.flatMap(({ value }) => (value === null ? [] : [value])) : [],
  );
  if (values.length > 0) return values.map((value) => identifierKey(type, value));
  const words = criteria.map((criterion) => JSON.stringify(criterion)).toSorted();
  return [`${type}?${words.join('&')}`];
}

/**
 * `If-None-Exist` is the query alone (FHIR R4 http, 3.1.0.8.1); `[type]?` before it, as R4's own examples have it, or our
 * own URL of the type, as HAPI sends it, says the same.
 */
function queryOf(noneExist: string, type: ResourceType, root: string): string {
  const text = noneExist.trim();
  const before = [`${root}/${type}?`, `/${type}?`, `${type}?`, '?'].find((url) => text.startsWith(url)) ?? '';
  return text.slice(before.length);
}

/** @param headers of the request, or of a bundle's entry: `If-None-Exist` */
export function draftCreate(
  context: RequestContext,
  type: ResourceType,
  content: Json,
  headers: RequestHeaders,
): Draft {
  requireNoVersion(headers);
  const noneExist = headers.get('if-none-exist');
  const foundBy =
    noneExist === null ? null : readCondition(context, 'create', type, queryOf(noneExist, type, context.root));
  return {
    type,
    interaction: 'create',
    id: uuidv7(context.now),
    expect: null,
    unmodifiedSince: null,
    foundBy,
    required: null,
    content: requireValid(type, content),
    lockKeys: foundBy === null ? [] : lockKeysOf(type, foundBy.criteria),
  };
}

/** @param headers `If-Match`, `If-None-Match: *`, `If-Unmodified-Since` */
export function draftUpdate(
  context: RequestContext,
  type: ResourceType,
  id: string,
  content: Json,
  headers: RequestHeaders,
): Draft {
  const { expect: expected, unmodifiedSince } = preconditionOf(headers);
  const valid = requireValid(type, content);
  const bodyId = valid['id'];
  if (bodyId !== undefined && bodyId !== id) {
    const message = 'the id in the body is not the one in the URL';
    throw new Fault('malformed', message, { issues: [{ code: 'value', message, at: `${type}.id` }] });
  }
  const expect = expected === 'any' ? null : expected;
  const interaction = 'update';
  const draft = { type, interaction, expect, unmodifiedSince, required: null, content: valid, lockKeys: [] } as const;
  // For Patient a body without an id creates, with an id of ours (edge/docs/behaviour.md, FHIR).
  if (type === 'Patient' && bodyId === undefined && expected !== 'any') {
    const criteria = [{ kind: 'id', ids: isUuid(id) ? [id] : [] } as const];
    return { ...draft, id: uuidv7(context.now), foundBy: { criteria, names: [] } };
  }
  if (!isUuid(id)) throw unknownId(type);
  return { ...draft, id, foundBy: null };
}

/**
 * @param query the search parameters that find the resource
 * @param headers `If-Match`, `If-None-Match: *`, `If-Unmodified-Since`
 */
export function draftConditionalUpdate(
  context: RequestContext,
  type: ResourceType,
  query: string,
  content: Json,
  headers: RequestHeaders,
): Draft {
  const { expect: expected, unmodifiedSince } = preconditionOf(headers);
  if (expected === 'any') {
    const message = 'If-Match: * cannot be used with a conditional update: name a version, or leave it out';
    throw new Fault('malformed', message, { issues: [{ code: 'value', message, at: 'http.If-Match' }] });
  }
  const foundBy = readCondition(context, 'update', type, query);
  const valid = requireValid(type, content);
  const bodyId = valid['id'];
  return {
    type,
    interaction: 'update',
    id: uuidv7(context.now),
    expect: expected,
    unmodifiedSince,
    foundBy,
    required: typeof bodyId === 'string' ? bodyId : null,
    content: valid,
    lockKeys: lockKeysOf(type, foundBy.criteria),
  };
}

/**
 * @param settle changes the content before it is kept: in a transaction, references between entries
 * @throws Fault `invalid` (422) for a patient that cannot be one of the site
 */
export function planWrite(
  context: RequestContext,
  draft: Draft,
  settle: (resource: JsonObject) => JsonObject = (resource) => resource,
): PlannedWrite {
  const { type, id, foundBy, expect, interaction, unmodifiedSince, required, lockKeys } = draft;
  const isPatch = interaction === 'patch';
  const how = { unmodifiedSince, ...(isPatch ? { noted: 'patch' as const } : {}) };
  const resource = relativeReferences(settle(draft.content), context.root);
  requirePatientReference(type, resource);
  if (foundBy === null) {
    const write = { ...toWrite(resource, id, interaction === 'create' ? 'create' : 'update', expect), ...how };
    return { type, write, condition: null, searched: null, isPatch, lockKeys };
  }
  const { criteria, names } = foundBy;
  return {
    type,
    write: { ...toWrite(resource, id, 'create', expect), mode: `?${id}`, ...how },
    condition: { kind: interaction, type, criteria, placeholder: id, required, local: [] },
    searched: names.length === 0 ? null : names,
    isPatch,
    lockKeys,
  };
}

/**
 * What must be held before anything is looked for: what conditions name, and the numbers by which the patients that are
 * written are known, before and after, so that a message about one of them and this write take turns.
 *
 * @throws Fault `invalid` (`too-costly`) for more than one request may write or hold
 */
export function locksOf(writes: readonly PlannedWrite[]): Locks {
  const keys = writes.flatMap(({ lockKeys: own, type, write }) => [
    ...own,
    ...(write.known?.values ?? []).map((value) => identifierKey(type, value)),
  ]);
  requireAffordableWrites(
    writes.map(({ write }) => write),
    keys,
  );
  const patients = writes.flatMap(({ type, write }) =>
    type === 'Patient' && write.mode === 'update' ? [write.id] : [],
  );
  return { keys, patients };
}
