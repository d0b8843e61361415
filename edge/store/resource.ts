/**
 * Clinical resources as the database keeps them: the content as text that was validated once and is never serialized
 * again. The search values are beside it. Writing is one SQL function (migrations/functions/fhir_write.sql).
 */
import { isJsonObject, type JsonObject, parseJson, printMembers } from '../../shared/json.ts';
import { type FhirCall, fhirFunction } from './fhir-call.ts';
import { type Locks, NO_LOCKS } from './lock.ts';
import { isResourceType, type ResourceType } from '../../shared/resource-type.ts';
import { type KnownBy, knownBy } from './patient-identity.ts';
import { searchRows } from './search/extract.ts';
import { GENERATION } from './search/parameters.ts';
import type { SearchRows } from './search/rows.ts';

/** `create`: a new id. `update`: an id the site has, else GW404. `upsert`: either. */
export type WriteMode = 'create' | 'update' | 'upsert';

/** One row for `resource_write`. */
export interface ResourceWrite extends SearchRows {
  readonly type: ResourceType;
  readonly id: string;
  readonly mode: WriteMode;
  /** The version the writer expects to replace (`If-Match`; 0: none, `If-None-Match: *`), else GW412; null: any. */
  readonly expect: number | null;
  /** An ISO instant; a resource that changed in a second after it is GW412 (`If-Unmodified-Since`). */
  readonly unmodifiedSince?: string | null;
  /** The action in the audit, if it is not a plain create or update. */
  readonly noted?: 'patch';
  /** The client's members of `meta`, as JSON text without the braces. */
  readonly meta: string;
  /** The members but `resourceType`, `id` and `meta`, as JSON text without the braces. */
  readonly body: string;
  /** The writer: a FHIR client, or the gateway for an HL7 message. */
  readonly writer: 'client' | 'message';
  /** The identifiers and traits of a Patient. */
  readonly known: KnownBy | null;
  /** The generation of parameters that its search rows are of. */
  readonly indexed: number;
}

/** A write whose mode its condition decides: `?` and the condition's placeholder. */
export interface TransactionWrite extends Omit<ResourceWrite, 'mode'> {
  readonly mode: WriteMode | `?${string}`;
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

export type WriteOutcome = 'created' | 'updated' | 'unchanged';

/** A written resource; `matched`: a conditional create found it, and content is that of the stored resource. */
export interface WriteRow {
  readonly part: 'row';
  readonly ordinal: number;
  readonly outcome: WriteOutcome | 'matched';
  readonly id: string;
  readonly version: number;
  readonly last_updated: string;
  /** Set for a matched resource that existed before and fits the answer; absent or null in any other row. */
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
 * @param resource validated, `resourceType` supported, references to the gateway's base already relative
 * @param id the server's; the resource's own `id`, `meta.versionId` and `meta.lastUpdated` are dropped (R4, create)
 */
export function toWrite(
  resource: JsonObject,
  id: string,
  mode: WriteMode,
  expect: number | null = null,
): ResourceWrite {
  const { resourceType, id: _id, meta, ...content } = resource;
  if (!isResourceType(resourceType)) throw new TypeError('toWrite takes validated resources of the seven types');
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
    known: resourceType === 'Patient' ? knownBy(resource) : null,
    indexed: GENERATION,
    ...searchRows(resourceType, resource),
  };
}

const WRITE = fhirFunction<WriteRow>('fhir_write', 5, 'writes');

/**
 * Writes resources, all or nothing; returns one row for each, in no order. An update with the stored content is
 * `unchanged` and makes no version.
 *
 * Fails with one of these Faults, whose `rows` are positions in `writes`:
 * - `not-found`: update of an id the site does not have, or with a position after the writes a required resource that
 *   does not exist.
 * - `precondition-failed`: another version.
 * - `invalid`: a patient the site does not have.
 * - `conflict`: two rows write one resource.
 *
 * @param required by a transaction; null: this is one write
 */
export const writeResources = (
  site: string,
  writes: readonly TransactionWrite[],
  { keys, patients }: Locks = NO_LOCKS,
  required: readonly RequiredResource[] | null = [],
): FhirCall<WriteRow> =>
  WRITE(site, JSON.stringify(writes), required === null ? null : JSON.stringify(required), keys, patients);

/** The resource as JSON text, put together without parsing what is stored. */
export function renderResource(stored: StoredResource): string {
  const { type, id, version, last_updated, meta, body } = stored;
  const head = `{"resourceType":"${type}","id":"${id}","meta":{"versionId":"${version}","lastUpdated":"${last_updated}"`;
  return `${head}${meta === '' ? '' : `,${meta}`}}${body === '' ? '' : `,${body}`}}`;
}

/** The resource as a value, for code that changes it (HL7) or selects its members (`_elements`). */
export function parseStored(stored: StoredResource): JsonObject {
  const resource = parseJson(renderResource(stored));
  if (!isJsonObject(resource)) throw new TypeError('a stored resource is an object');
  return resource;
}
