/**
 * create, update, patch and their conditional forms (FHIR R4 http, 3.1.0.4, 3.1.0.5, 3.1.0.6, 3.1.0.8), in two steps without
 * I/O. A checked write is the content of the request. A planned write is the row for the database, with its references
 * settled, which in a transaction needs the checked writes of all entries.
 */
import type { Json, JsonObject } from '../../shared/json.ts';
import { isUuid, uuidv7 } from '../../shared/uuid.ts';
import type { Criterion } from '../store/search/kinds.ts';
import { identifierKey, type Locks } from '../store/lock.ts';
import { toWrite, type TransactionWrite } from '../store/resource.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { Condition } from '../store/transaction.ts';
import { type FoundBy, readCondition } from './conditions.ts';
import { badParameter, malformedAt } from './controls/faults.ts';
import { requireAffordableWrites } from './cost.ts';
import { preconditionOf, type RequestHeaders, requireNoVersion } from './conditional-headers.ts';
import { requireValid } from './resource-body.ts';
import type { RequestContext } from './interaction.ts';
import { relativeReferences, requirePatientReference, requireResolved } from './patient-reference.ts';
import { unknownId } from './refused-write.ts';

export interface CheckedWrite {
  readonly type: ResourceType;
  readonly interaction: 'create' | 'update' | 'patch';
  /** The resource's id; with a condition a new id, the placeholder of the resource that the condition finds. */
  readonly id: string;
  /** The versions that it may replace, 0: the resource must not exist; null: any. */
  readonly expect: readonly number[] | null;
  /** An ISO instant after which the resource may not have changed; null: no condition. */
  readonly unmodifiedSince: string | null;
  readonly foundBy: FoundBy | null;
  /** The only id that the condition may find: the one in the body of an update, or of the resource that was patched. */
  readonly required: string | null;
  readonly content: JsonObject;
  /** Puts the documents of a patched resource into the text of its content (patch/cut-data.ts). */
  readonly withData?: (text: string) => string;
  readonly lockKeys: readonly string[];
}

export interface PlannedWrite {
  readonly type: ResourceType;
  readonly write: TransactionWrite;
  readonly condition: Condition | null;
  /** The names of the condition's parameters, for the audit; null: no condition. */
  readonly searched: readonly string[] | null;
  readonly isPatch: boolean;
  readonly lockKeys: readonly string[];
}

/** Locks for a condition: simultaneous requests with the same identifier, or else the same criteria, wait for each other. */
export function lockKeysOf(type: ResourceType, criteria: readonly Criterion[]): string[] {
  const values = criteria.flatMap((criterion) =>
    criterion.kind === 'identifier' ? criterion.any.flatMap(({ value }) => (value === null ? [] : [value])) : [],
  );
  if (values.length > 0) return values.map((value) => identifierKey(type, value));
  const texts = criteria.map((criterion) => JSON.stringify(criterion)).toSorted();
  return [`${type}?${texts.join('&')}`];
}

/**
 * `If-None-Exist` is a query (FHIR R4 http, 3.1.0.8.1). R4's examples have `[type]?` before it, and HAPI sends the URL of the
 * type before it; both are accepted.
 */
function queryOf(noneExist: string, type: ResourceType, root: string): string {
  const text = noneExist.trim();
  const before = [`${root}/${type}?`, `/${type}?`, `${type}?`, '?'].find((url) => text.startsWith(url)) ?? '';
  return text.slice(before.length);
}

/** @param headers the headers of the request, or of a bundle's entry: `If-None-Exist` */
export function checkCreate(
  context: RequestContext,
  type: ResourceType,
  content: Json,
  headers: RequestHeaders,
): CheckedWrite {
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
    content: requireValid(context, type, content),
    lockKeys: foundBy === null ? [] : lockKeysOf(type, foundBy.criteria),
  };
}

/** @param headers `If-Match`, `If-None-Match: *`, `If-Unmodified-Since` */
export function checkUpdate(
  context: RequestContext,
  type: ResourceType,
  id: string,
  content: Json,
  headers: RequestHeaders,
): CheckedWrite {
  const { expect: expected, unmodifiedSince } = preconditionOf(headers);
  const valid = requireValid(context, type, content);
  const bodyId = valid['id'];
  if (bodyId !== undefined && bodyId !== id)
    throw malformedAt(`${type}.id`, 'the id in the body is not the one in the URL');
  const expect = expected === 'any' ? null : expected;
  const interaction = 'update';
  const checked = { type, interaction, expect, unmodifiedSince, required: null, content: valid, lockKeys: [] } as const;
  // For Patient a body without an id creates a resource with a new id (edge/docs/behaviour.md, FHIR).
  if (type === 'Patient' && bodyId === undefined && expected !== 'any') {
    const criteria = [{ kind: 'id', ids: isUuid(id) ? [id] : [] } as const];
    return { ...checked, id: uuidv7(context.now), foundBy: { criteria, names: [] } };
  }
  if (!isUuid(id)) throw unknownId(type);
  return { ...checked, id, foundBy: null };
}

/**
 * @param query the search parameters that find the resource
 * @param headers `If-Match`, `If-None-Match: *`, `If-Unmodified-Since`
 */
export function checkConditionalUpdate(
  context: RequestContext,
  type: ResourceType,
  query: string,
  content: Json,
  headers: RequestHeaders,
): CheckedWrite {
  const { expect: expected, unmodifiedSince } = preconditionOf(headers);
  if (expected === 'any') {
    const message = 'If-Match: * cannot be used with a conditional update: send a version, or leave it out';
    throw badParameter('If-Match', message);
  }
  const foundBy = readCondition(context, 'update', type, query);
  const valid = requireValid(context, type, content);
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
 * @param settle changes the content before it is stored: in a transaction, references between entries
 * @throws Fault `invalid` (422) for a reference that cannot be to a patient of the site, or that only a transaction resolves
 */
export function planWrite(
  context: RequestContext,
  checked: CheckedWrite,
  settle: (resource: JsonObject) => JsonObject = (resource) => resource,
): PlannedWrite {
  const { type, id, foundBy, expect, interaction, unmodifiedSince, required, lockKeys } = checked;
  const isPatch = interaction === 'patch';
  const how = { unmodifiedSince, ...(isPatch ? { noted: 'patch' as const } : {}) };
  const resource = relativeReferences(settle(checked.content), context.root);
  requirePatientReference(type, resource);
  requireResolved(type, resource);
  const row = toWrite(resource, id, interaction === 'create' ? 'create' : 'update', expect);
  const write = { ...row, ...how, ...(checked.withData && { withData: checked.withData }) };
  if (foundBy === null) {
    return { type, write, condition: null, searched: null, isPatch, lockKeys };
  }
  const { criteria, names } = foundBy;
  return {
    type,
    write: { ...write, mode: `?${id}` },
    condition: { kind: interaction, type, criteria, placeholder: id, required, local: [] },
    searched: names.length === 0 ? null : names,
    isPatch,
    lockKeys,
  };
}

/**
 * The locks that a request takes before it searches: the criteria of its conditions, and the identifiers of the patients that
 * it writes. So a message about one of these patients and the write wait for each other.
 *
 * @throws Fault `invalid` (`too-costly`) for more than one request may write or lock
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
