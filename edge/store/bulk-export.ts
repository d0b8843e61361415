/**
 * Bulk exports (FHIR Bulk Data Access 2.0.0): the request and the resources of each file. Files have no stored content:
 * a page of a file is read from the resources as they were at the export's moment.
 */
import type { Query } from '../deps.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { type PageRow, withinBudget } from './page.ts';
import { factsOf } from './provenance.ts';
import { binder, instantOf, read, sql } from './sql.ts';

/** The lifetime of an export. */
const EXPIRES_SECONDS = 24 * 3600;
/** Exports of one key that are not complete. */
export const EXPORTS_UNDER_WAY = 2;

/**
 * Resources of a file. A Worker may query the database 1,000 times in a request and work for 30 seconds. A file is less
 * than 500 pages, even if a page is half empty because the next resource was too large for it. It takes about a second
 * of work.
 */
const FILE_RESOURCES = 100_000;
const FILE_BYTES = 192 * 1024 * 1024;
/** Resources of a page. A stream has two pages in memory, each with its copies: as JSON, as text, as bytes. */
export const PAGE_RESOURCES = 2_000;
const PAGE_BYTES = 1024 * 1024;
/** Files keep the ids of a type with at most so many resources that changed, or are of the wanted patients (bulk_export_step). */
const FEW = 250_000;
/** The time of one request for assigning resources to files. */
const STEP_MS = 2_000;

export interface NewExport {
  readonly site: string;
  readonly clientId: string;
  /** A new UUID. */
  readonly id: string;
  /** The URL that asked for it. */
  readonly request: string;
  readonly types: readonly ResourceType[];
  /** Only resources in the compartment of a patient. */
  readonly ofPatients: boolean;
  /** The id of the Group whose members are wanted. */
  readonly group: string | null;
  /** An instant: only resources that changed after it; null: all. */
  readonly since: string | null;
  /** Ids of the wanted patients; null: all. */
  readonly patients: readonly string[] | null;
  /** `_typeFilter`s: `Observation?code=x`. */
  readonly filters: readonly string[];
  /** OperationOutcomes, one a line. */
  readonly outcomes: string;
}

/**
 * Fails the batch with Fault `throttled` when the key has EXPORTS_UNDER_WAY. An unknown patient is `invalid`, an unknown Group
 * `not-found`, and a Group for a key that may not read groups `forbidden`.
 */
export function beginExport(it: NewExport): Query {
  return sql`select bulk_export_begin(${it.site}::uuid, ${it.clientId}, ${it.id}::uuid, ${it.request}, ${it.types}::text[],
    ${it.ofPatients}, ${it.since}::timestamptz, ${it.patients}::uuid[], ${it.group}::uuid, ${it.filters}::text[], ${it.outcomes}, ${EXPIRES_SECONDS}, ${EXPORTS_UNDER_WAY})`;
}

/** An export with its owner: an export of another key counts as unknown. */
export interface ExportKey {
  readonly site: string;
  readonly clientId: string;
  readonly id: string;
}

/** Assigns further resources to files, until the export is complete (bulk_export_step). */
export function stepExport({ site, clientId, id }: ExportKey): Query {
  return sql`select bulk_export_step(${site}::uuid, ${clientId}, ${id}::uuid, ${FILE_RESOURCES}::integer,
    ${FILE_BYTES}::bigint, ${FEW}::integer, ${STEP_MS}::integer)`;
}

export interface ExportRow {
  readonly request: string;
  readonly types: readonly ResourceType[];
  readonly filters: readonly string[];
  readonly is_complete: boolean;
  /** Every transaction that may have written before `transaction_time` has ended. */
  readonly is_settled: boolean;
  /** Instant: the files have every change up to it, and no later one. */
  readonly transaction_time: string;
  /** Instant. */
  readonly expires_at: string;
  readonly outcomes: string;
  /** Patients were erased since `_since`. */
  readonly has_deleted: boolean;
  /** JSON: an array of ExportFile, in the order of the types asked for. */
  readonly files: string;
}

export interface ExportFile {
  readonly type: ResourceType;
  readonly number: number;
  readonly count: number;
}

const OWN = (site: string, client: string, id: string) =>
  `e.site_id = ${site}::uuid and e.export_id = ${id}::uuid and e.client_id = ${client}`;

/**
 * The erasures of patients that an export with `_since` reports. The audit has them; nothing else of an erased patient is kept.
 * An erasure deletes the exports that were begun before it, so each download reports the same ones.
 */
const ERASED = `from audit a cross join unnest(a.types, a.ids) i(type, id)
  where a.site_id = e.site_id and a.action = 'patient-erased' and a.minute >= audit_minute(e.since) and a.at > e.since and i.type = 'Patient'
    and 'Patient' = any (e.types) and (e.patients is null or e.group_id is not null)`;

/** The ids of the patients that were erased since `_since` of a complete export. */
export function erasedPatients({ site, clientId, id }: ExportKey): Query<{ readonly id: string }> {
  const { params, bind } = binder();
  const text = `select distinct x.id from bulk_export e cross join lateral (select i.id ${ERASED}) x
 where ${OWN(bind(site), bind(clientId), bind(id))} and e.is_complete and e.expires_at > clock_timestamp() order by x.id`;
  return { text, params, reads: true };
}

/** No row when the key has no such export, or it has expired. */
export function findExport({ site, clientId, id }: ExportKey): Query<ExportRow> {
  const { params, bind } = binder();
  const text = `select e.request, e.types, e.filters, e.is_complete, e.outcomes,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= e.begun_by as is_settled,
       ${instantOf(`(e.snapshot_at - interval '1 millisecond')`)} as transaction_time, ${instantOf('e.expires_at')} as expires_at,
       exists (select ${ERASED}) as has_deleted,
       (select coalesce(json_agg(json_build_object('type', f.type, 'number', f.number, 'count', f.resources)
                          order by array_position(e.types, f.type), f.number), '[]')
          from bulk_export_file f where f.site_id = e.site_id and f.export_id = e.export_id)::text as files
  from bulk_export e where ${OWN(bind(site), bind(clientId), bind(id))} and e.expires_at > clock_timestamp()`;
  return { text, params, reads: true };
}

/** Returns the id of the deleted export. */
export function cancelExport({ site, clientId, id }: ExportKey): Query<{ readonly id: string }> {
  return sql<{ id: string }>`delete from bulk_export e
    where e.site_id = ${site}::uuid and e.export_id = ${id}::uuid and e.client_id = ${clientId}
      and e.expires_at > clock_timestamp()
    returning e.export_id as id`;
}

/** The data by which a file is read. */
export interface FileRow {
  /** The types of the export: a client that may not read all of them sees nothing. */
  readonly types: readonly ResourceType[];
  readonly outcomes: string;
  /** Null if there is no such file of resources. */
  readonly after_id: string | null;
  readonly upto_id: string | null;
  readonly has_ids: boolean;
  /** Instants. */
  readonly snapshot_at: string;
  readonly since: string | null;
  readonly of_patients: boolean;
  /** Only of the patients of the export. */
  readonly of_some: boolean;
  /** Some patients have been members of the Group since `since` only. */
  readonly has_new: boolean;
  readonly filters: readonly string[];
  /** The time zone of dates without one. */
  readonly zone: string;
}

/**
 * No row when the key has no such export, it has expired or is not complete.
 *
 * @param readable the types that the caller may read; the audit records the file only if they include all types of the export
 */
export function openFile(
  { site, clientId, id }: ExportKey,
  type: string,
  number: number,
  readable: readonly string[],
): Query<FileRow> {
  const { params, bind } = binder();
  const wanted = bind(type);
  const text = `select e.types, e.outcomes, f.after_id, f.upto_id, f.ids is not null as has_ids, e.of_patients, e.filters,
       e.patients is not null as of_some, coalesce(e.new_patients, '{}') <> '{}' as has_new,
       search_zone(e.site_id) as zone,
       ${instantOf('e.snapshot_at')} as snapshot_at, ${instantOf('e.since')} as since,
       case when f.number is not null and e.types <@ ${bind(readable)}::text[]
            then audit_note(array[row('export', f.type || 'File', e.export_id, null)::audit_item]) end as noted
  from bulk_export e
  left join bulk_export_file f
    on f.site_id = e.site_id and f.export_id = e.export_id and f.type = ${wanted} and f.number = ${bind(number)}::integer
 where ${OWN(bind(site), bind(clientId), bind(id))} and e.is_complete and e.expires_at > clock_timestamp()`;
  return { text, params, reads: true };
}

/** One row while the export exists. Run it after the read of a page, to be sure that the page is of an existing export. */
export function exportExists({ site, clientId, id }: ExportKey): Query<{ readonly is_stored: boolean }> {
  return read<{ is_stored: boolean }>`select true as is_stored from bulk_export e
    where e.site_id = ${site}::uuid and e.export_id = ${id}::uuid and e.client_id = ${clientId}`;
}

export interface FileSelection extends ExportKey {
  readonly type: ResourceType;
  readonly number: number;
  readonly file: FileRow & { readonly upto_id: string };
  /** The id of the last resource of the page before. */
  readonly after: string;
  /** With the facts of each resource for its Provenance. */
  readonly withFacts?: boolean;
}

/** A page of a file and one row more, if there is one. @see toPage */
export function filePage({ site, id, type, number, file, after, withFacts }: FileSelection): Query<PageRow> {
  const { params, bind } = binder();
  const [ofSite, ofType, behind] = [`${bind(site)}::uuid`, bind(type), `${bind(after)}::uuid`];
  const limit = `${bind(PAGE_RESOURCES + 1)}::integer`;
  const key = `c.site_id = ${ofSite} and c.type = ${ofType}`;
  // `is true` keeps the list in a hash table. As a join, PostgreSQL would compare each resource with each of 10,000 members.
  const listed = (column: 'patients' | 'new_patients'): string => `(${type === 'Patient' ? 'c.id' : 'v.patient_id'} in (
      select unnest(e.${column}) from bulk_export e where e.site_id = ${ofSite} and e.export_id = ${bind(id)}::uuid)) is true`;
  const changed = (since: string): string => `v.last_updated > ${bind(since)}::timestamptz`;
  // Ids that were kept are all of the file: the page is cut out of them, and then looked up.
  const kept = (): string => `(
      select u.id from unnest((select f.ids from bulk_export_file f
              where f.site_id = ${ofSite} and f.export_id = ${bind(id)}::uuid and f.type = ${ofType}
                and f.number = ${bind(number)}::integer)) u(id)
       where u.id > ${behind} order by u.id limit ${limit})`;
  const [from, range] = file.has_ids
    ? [`${kept()} i join resource c on ${key} and c.id = i.id`, 'true']
    : ['resource c', `${key} and c.id > ${behind} and c.id <= ${bind(file.upto_id)}::uuid`];
  const where = [
    range,
    ...(file.since === null
      ? []
      : [file.has_new ? `(${changed(file.since)} or ${listed('new_patients')})` : changed(file.since)]),
    ...(file.of_patients && type !== 'Patient' ? ['v.patient_id is not null'] : []),
    ...(file.of_some ? [listed('patients')] : []),
  ].join(' and ');
  const rows = `select c.type, c.id, v.version, v.last_updated, v.meta, v.body, v.patient_id, null::text as sort_key
    from ${from}
   cross join lateral resource_version_at(c.site_id, c.type, c.id, c.version, c.last_updated, c.meta, c.body,
           c.patient_id, ${bind(file.snapshot_at)}::timestamptz) v
   where ${where}
   order by c.id limit ${limit}`;
  const facts = withFacts === true ? factsOf(ofSite, 'q') : null;
  return { text: withinBudget(rows, 'p.id', 'gateway', PAGE_BYTES, facts), params, reads: true };
}
