/**
 * What FHIR clients ask most, as one statement that is the whole request: who asks is let in, what is asked is done, and the
 * audit has its row (fhir_read, fhir_find, fhir_write in migrations/functions). It does what the statements of a batch do
 * one by one, which PostgreSQL would parse and plan anew each time.
 */
import type { Param, Query } from '../deps.ts';
import type { CallerIdentity } from './api-key.ts';
import { PAGE_BYTES, type PageRow } from './page.ts';
import type { ShownIf } from './resource-by-id.ts';
import type { ResourceWrite, StoredResource, WrittenResource } from './resource.ts';
import type { Find } from './search/find.ts';
import type { ResourceType } from '../../shared/resource-type.ts';

/** Who asks, and from where. */
export interface Access {
  readonly caller: CallerIdentity;
  readonly address: string;
  readonly requestId: string;
}

/** @param casts of the arguments behind those that each of these functions begins with */
function whole<Row extends object>(
  name: string,
  access: Access,
  args: readonly (readonly [Param, string])[],
): Query<Row> {
  const { caller, address, requestId } = access;
  const own = args.map(([, cast], n) => `, $${n + 9}::${cast}`).join('');
  return {
    text: `select * from ${name}($1::bigint, $2::integer, $3::integer, $4::uuid, $5, $6, $7, $8${own})`,
    params: [caller.site, caller.clientId, caller.tokenId, address, requestId, ...args.map(([value]) => value)],
    whole: true,
  };
}

/** As `readResource`. */
export const readWhole = (access: Access, type: ResourceType, id: string, shownIf: ShownIf): Query<StoredResource> => ({
  ...whole<StoredResource>('fhir_read', access, [
    [type, 'text'],
    [id, 'uuid'],
    [shownIf.version, 'integer'],
    [shownIf.unmodifiedSince, 'timestamptz'],
  ]),
  notes: true,
});

/** As `searchPage`. @param searched the names of the parameters */
export const findWhole = (
  access: Access,
  searched: readonly string[],
  { type, patient, param, value, system, after, limit }: Find,
): Query<PageRow> => ({
  ...whole<PageRow>('fhir_find', access, [
    [searched, 'text[]'],
    [type, 'text'],
    [patient, 'uuid'],
    [param, 'text'],
    [value, 'text'],
    [system, 'text'],
    [after, 'uuid'],
    [limit, 'integer'],
    [PAGE_BYTES, 'bigint'],
  ]),
  notes: true,
});

/** As `lockKeys` and `writeResources`. */
export const writeWhole = (
  access: Access,
  { keys, patients }: { readonly keys: readonly string[]; readonly patients: readonly string[] },
  writes: readonly ResourceWrite[],
): Query<WrittenResource> =>
  whole<WrittenResource>('fhir_write', access, [
    [keys, 'text[]'],
    [patients, 'uuid[]'],
    [JSON.stringify(writes), 'json'],
  ]);
