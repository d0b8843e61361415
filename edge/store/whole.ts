/**
 * What FHIR clients ask most, as one statement that is the whole request: who asks is let in, what is asked is done, and the
 * audit has its row (fhir_read, fhir_find, fhir_write in migrations/functions). It does what the statements of a batch do
 * one by one, which PostgreSQL would parse and plan anew each time.
 */
import type { Param, Query } from '../deps.ts';
import { callerArguments, type CallerIdentity } from './api-key.ts';
import { PAGE_BYTES, type PageRow, type ReadRow } from './page.ts';
import type { ShownIf } from './resource-by-id.ts';
import type { ResourceWrite, WrittenResource } from './resource.ts';
import type { Find } from './search/find.ts';
import type { ResourceType } from '../../shared/resource-type.ts';

/** Who asks, and from where. */
export interface Access {
  readonly caller: CallerIdentity;
  readonly address: string;
  readonly requestId: string;
}

/** Arguments that each of these functions begins with: the limits (edge/platform/database.ts), and who asks. */
const OPENING = 11;

/** Without casts, since the function says what its arguments are, and PostgreSQL would read each anew. */
const callOf = (name: string, own: number): string =>
  `select * from ${name}(${Array.from({ length: OPENING + own }, (_, n) => `$${n + 1}`).join(', ')})`;

const READ = callOf('fhir_read', 4);
const FIND = callOf('fhir_find', 9);
const WRITE = callOf('fhir_write', 3);

function whole<Row extends object>(text: string, access: Access, own: readonly Param[]): Query<Row> {
  const { caller, address, requestId } = access;
  const params = [...callerArguments(caller), address, requestId, ...own];
  return { text, params, whole: true, site: caller.site };
}

/** As `readResource`. */
export const readWhole = (access: Access, type: ResourceType, id: string, shownIf: ShownIf): Query<ReadRow> => ({
  ...whole<ReadRow>(READ, access, [type, id, shownIf.version, shownIf.unmodifiedSince]),
  notes: true,
});

/** As `searchPage`. @param searched the names of the parameters */
export const findWhole = (
  access: Access,
  searched: readonly string[],
  { type, patient, param, value, system, after, limit }: Find,
): Query<PageRow> => ({
  ...whole<PageRow>(FIND, access, [searched, type, patient, param, value, system, after, limit, PAGE_BYTES]),
  notes: true,
});

/** As `lockKeys` and `writeResources`. */
export const writeWhole = (
  access: Access,
  { keys, patients }: { readonly keys: readonly string[]; readonly patients: readonly string[] },
  writes: readonly ResourceWrite[],
): Query<WrittenResource> => whole<WrittenResource>(WRITE, access, [keys, patients, JSON.stringify(writes)]);
