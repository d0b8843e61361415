/**
 * Clinical resources as the database keeps them: the content as text that was validated once and is never printed
 * anew, and beside it what is searched. Writing is one SQL function (migrations/functions/resource_write.sql).
 */
import { isJsonObject, type JsonObject, parseJson, printMembers } from '../../shared/json.ts';
import type { Query } from '../deps.ts';
import { isResourceType, type ResourceType } from '../../shared/resource-type.ts';
import { type KnownBy, knownBy } from './patient-identity.ts';
import { searchRows } from './search/extract.ts';
import { GENERATION } from './search/parameters.ts';
import type { SearchRows } from './search/rows.ts';
import { instantOf, raw, sql } from './sql.ts';

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
  /** How the audit has it, where it is no plain create or update. */
  readonly noted?: 'patch';
  /** The client's members of `meta`, as JSON text without the braces. */
  readonly meta: string;
  /** The members but `resourceType`, `id` and `meta`, as JSON text without the braces. */
  readonly body: string;
  /** Who writes: a FHIR client, or the gateway for an HL7 message. */
  readonly writer: 'client' | 'message';
  /** Of a Patient. */
  readonly known: KnownBy | null;
  /** The generation of parameters that its search rows are of. */
  readonly indexed: number;
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

export interface WrittenResource {
  /** The 0-based position in the rows given. */
  readonly ordinal: number;
  readonly outcome: WriteOutcome;
  readonly id: string;
  readonly version: number;
  readonly last_updated: string;
}

/**
 * @param resource validated, `resourceType` one of ours, references to our own base already relative
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

/**
 * Writes resources, all or nothing; one row comes back for each, in the order given. An update with the stored content
 * is `unchanged` and makes no version.
 *
 * The batch fails with Fault `not-found` (update of an id the site does not have), `precondition-failed` (another
 * version) or `invalid` (a patient the site does not have), whose `rows` are positions in `writes`.
 */
export function writeResources(site: string, writes: readonly ResourceWrite[]): Query<WrittenResource> {
  return sql<WrittenResource>`
    select w.ordinal, w.outcome, w.id, w.version, ${raw(instantOf('w.last_updated'))} as last_updated
      from resource_write(${site}::uuid, ${JSON.stringify(writes)}::json) w
     order by w.ordinal`;
}

/** The resource as JSON text, put together without parsing what is stored. */
export function renderResource(stored: StoredResource): string {
  const { type, id, version, last_updated, meta, body } = stored;
  const head = `{"resourceType":"${type}","id":"${id}","meta":{"versionId":"${version}","lastUpdated":"${last_updated}"`;
  return `${head}${meta === '' ? '' : `,${meta}`}}${body === '' ? '' : `,${body}`}}`;
}

/** The resource as a value, for those who change it (HL7) or cut it (`_elements`). */
export function parseStored(stored: StoredResource): JsonObject {
  const resource = parseJson(renderResource(stored));
  if (!isJsonObject(resource)) throw new TypeError('a stored resource is an object');
  return resource;
}
