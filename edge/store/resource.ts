/**
 * Clinical resources in the database: the validated content as text that is never printed again, and the rows that searches
 * use. One SQL function writes them (migrations/functions/fhir_write.sql).
 */
import { isJsonObject, type JsonObject, parseJson, printMembers } from '../../shared/json.ts';
import { type FhirCall, fhirFunction } from './fhir-call.ts';
import { type Locks, NO_LOCKS } from './lock.ts';
import { isResourceType, type ResourceType } from '../../shared/resource-type.ts';
import { membersOf } from './group.ts';
import { type KnownBy, knownBy } from './patient-identity.ts';
import { searchRows } from './search/extract.ts';
import { GENERATION } from './search/parameters.ts';
import type { SearchRows } from './search/rows.ts';

/** `create`: a new id. `update`: an id of the site, otherwise GW404. `upsert`: either. */
export type WriteMode = 'create' | 'update' | 'upsert';

/** One row for `resource_write`. */
export interface ResourceWrite extends SearchRows {
  readonly type: ResourceType;
  readonly id: string;
  readonly mode: WriteMode;
  /** The versions that the writer may replace (`If-Match`; 0: none, `If-None-Match: *`), else GW412; null: any. */
  readonly expect: readonly number[] | null;
  /** An ISO instant; a resource that changed in a second after it is GW412 (`If-Unmodified-Since`). */
  readonly unmodifiedSince?: string | null;
  /** The audit's action, where it is not create or update. */
  readonly noted?: 'patch';
  /** The client's members of `meta`, as JSON text without the braces. */
  readonly meta: string;
  /** The members but `resourceType`, `id` and `meta`, as JSON text without the braces. */
  readonly body: string;
  /** A FHIR client, or the gateway for an HL7 message. */
  readonly writer: 'client' | 'message';
  /** The patients of a Group. */
  readonly members?: readonly string[];
  /** Null for other types than Patient. */
  readonly known: KnownBy | null;
  /** The generation of parameters that its search rows are of. */
  readonly indexed: number;
}

/** A write whose mode its condition decides: `?` and the condition's placeholder. */
export interface TransactionWrite extends Omit<ResourceWrite, 'mode'> {
  readonly mode: WriteMode | `?${string}`;
  /** Puts documents into `meta`, `body`, and JSON with them, from which a patch has cut them out (edge/fhir/patch/cut-data.ts). */
  readonly withData?: (text: string) => string;
}

/** The writes as a JSON array. A document is put in last: each step before would copy it. */
export function printWrites(writes: readonly TransactionWrite[]): string {
  const printed = writes.map(({ withData = (text) => text, ...write }) => withData(JSON.stringify(write)));
  return `[${printed.join(',')}]`;
}

/** A resource as it is read; `last_updated` is a FHIR instant (see `instantOf`). */
export interface StoredResource {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly last_updated: string;
  readonly meta: string;
  readonly body: string;
}

type WriteOutcome = 'created' | 'updated' | 'unchanged';

/** The result of one write; `matched`: a conditional create found the resource. */
export interface WriteRow {
  readonly part: 'row';
  readonly ordinal: number;
  readonly outcome: WriteOutcome | 'matched';
  readonly id: string;
  readonly version: number;
  readonly last_updated: string;
  /** The content of a matched resource that was stored before and fits the answer; otherwise absent or null. */
  readonly meta?: string | null;
  readonly body?: string | null;
}

/** A resource that a transaction reads: without it the transaction fails as a whole. */
export interface RequiredResource {
  readonly type: ResourceType;
  readonly id: string;
  /** Null: any. */
  readonly version: number | null;
}

/**
 * @param resource validated, of a supported type, with relative references to resources of this server
 * @param id the server's; the resource's own `id`, `meta.versionId` and `meta.lastUpdated` are dropped (R4, create)
 */
export function toWrite(
  resource: JsonObject,
  id: string,
  mode: WriteMode,
  expect: readonly number[] | null = null,
): ResourceWrite {
  const { resourceType, id: _id, meta, ...content } = resource;
  if (!isResourceType(resourceType)) throw new TypeError('toWrite takes validated resources of supported types');
  const {
    versionId: _versionId,
    _versionId: _versionIdElement,
    lastUpdated: _lastUpdated,
    _lastUpdated: _lastUpdatedElement,
    ...kept
  } = isJsonObject(meta) ? meta : {};
  return {
    type: resourceType,
    id,
    mode,
    expect,
    meta: printMembers(kept),
    body: printMembers(content),
    writer: 'client',
    ...(resourceType === 'Group' ? { members: membersOf(resource) } : {}),
    known: resourceType === 'Patient' ? knownBy(resource) : null,
    indexed: GENERATION,
    ...searchRows(resourceType, resource),
  };
}

const WRITE = fhirFunction<WriteRow>('fhir_write', 5, 'writes');

/**
 * Writes resources, all or nothing, and returns a row for each, in no order. An update with the stored content is `unchanged` and
 * makes no version. The statement fails with a Fault whose `rows` are positions in `writes`:
 * - `not-found`: update of an unknown id; with a position after the writes: a required resource does not exist
 * - `precondition-failed`: another version
 * - `invalid`: the site does not have the referenced patient
 * - `conflict`: two rows write one resource
 *
 * @param required the resources that a transaction needs; null: no transaction, so `writes` are of different resources
 */
export const writeResources = (
  site: string,
  writes: readonly TransactionWrite[],
  { keys, patients }: Locks = NO_LOCKS,
  required: readonly RequiredResource[] | null = [],
): FhirCall<WriteRow> =>
  WRITE(site, printWrites(writes), required === null ? null : JSON.stringify(required), keys, patients);

/** The resource as JSON text, put together without parsing what is stored. */
export function renderResource(stored: StoredResource): string {
  const { type, id, version, last_updated, meta, body } = stored;
  const head = `{"resourceType":"${type}","id":"${id}","meta":{"versionId":"${version}","lastUpdated":"${last_updated}"`;
  return `${head}${meta === '' ? '' : `,${meta}`}}${body === '' ? '' : `,${body}`}}`;
}

/** The resource as a value, to change it (HL7) or to return a part of it (`_elements`). */
export function parseStored(stored: StoredResource): JsonObject {
  const resource = parseJson(renderResource(stored));
  if (!isJsonObject(resource)) throw new TypeError('a stored resource is an object');
  return resource;
}
