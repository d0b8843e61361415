/**
 * Copies rows that the gateway wrote for some events, so that a large database has what a million such events would have stored. Each
 * copy has new ids, another time, other people and other codes: the events have marks in their place. It works for any table.
 */
import type { Client } from 'pg';

/** The marks in recorded events. They are so long that no other value contains one by chance. */
export const MARK = {
  /** A part of identifiers, control ids and order numbers. */
  number: 'QQQNUM',
  /** The beginning of a family name. */
  family: 'Zyxfam',
  /** The beginning of a code. */
  code: 'ZYQCODE',
  birthDate: '1931-07-08',
  /** The day of a result. */
  day: '2021-03-04',
} as const;
/** The time of a result on its day. */
export const RESULT_TIME = '04:05:00';
/** The codes of the five results of a panel. @param panel its number, or the mark */
export const codesOf = (panel: number | string): string[] => [0, 1, 2, 3, 4].map((n) => `${panel}${n}-1`);
/** That time as the text that orders values by time. */
const epochOf = (day: string): string => String(Date.parse(`${day}T${RESULT_TIME}Z`)).padStart(15, '0');

export interface Site {
  readonly site: string;
  readonly fhirClient: string;
  readonly hl7Client: string;
}

export interface Copy extends Site {
  /** Unique, of seven digits. */
  readonly number: string;
  readonly family: string;
  readonly code: string;
  /** YYYY-MM-DD, as the day. */
  readonly birthDate: string;
  readonly day: string;
  /** The time of the events in buckets (BUCKET_MS) since the epoch. */
  readonly bucket: number;
}

/** The rows of some events, in temporary tables of a connection. */
export interface Recording extends Site {
  readonly bucket: number;
  /** Temporary tables by table. */
  readonly tables: ReadonlyMap<string, string>;
  /** The id of a Patient that the copies are about too. */
  readonly patient: string | undefined;
}

/** The first eight digits of a UUIDv7 are the same for so long. All events of a recording have them in common. */
export const BUCKET_MS = 2 ** 16;
export const bucketOf = (ms: number): number => Math.floor(ms / BUCKET_MS);
const prefixOf = (bucket: number): string => bucket.toString(16).padStart(8, '0');

/** Tables of a site and its clients, and counts, of which an event changes a row instead of adding one. */
const NOT_COPIED =
  /^(?:answer_total|api_key.*|change_position|console_.*|feed|key_.*|refusal|search_behind|site.*|usage.*)$/;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** The columns of the tables with data of a site that can be written. */
async function columnsOf(client: Client): Promise<Map<string, Column[]>> {
  const { rows } = await client.query<Column>(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, -1) as type
       from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
        and a.attgenerated = '' and exists (select from pg_attribute s where s.attrelid = c.oid and s.attname = 'site_id')
      order by c.relname, a.attnum`,
  );
  return Map.groupBy(
    rows.filter(({ table }) => !NOT_COPIED.test(table)),
    ({ table }) => table,
  );
}

let recorded = 0;

/**
 * Records the rows that a site gets by events.
 *
 * @param patient was there before, and is in all copies: its own rows are left out
 */
export async function record(
  client: Client,
  site: Site,
  events: () => Promise<unknown>,
  patient?: string,
): Promise<Recording> {
  // Some seconds are enough for the events.
  while (bucketOf(Date.now()) !== bucketOf(Date.now() + 15_000)) await new Promise((done) => setTimeout(done, 1000));
  const bucket = bucketOf(Date.now());
  const { rows } = await client.query<{ xid: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as xid');
  await events();
  const tables = new Map<string, string>();
  for (const [table, columns] of await columnsOf(client)) {
    const name = `recorded_${(recorded += 1)}`;
    const own = columns.some((column) => column.name === 'id') && table !== 'hl7_message_resource';
    const isOther = own && patient !== undefined ? `and id <> '${patient}'` : '';
    const { rowCount } = await client.query(
      `create temp table ${name} as select * from ${table}
        where site_id = '${site.site}' and xmin::text::bigint >= ${rows[0]?.xid} ${isOther}`,
    );
    if (rowCount !== 0) tables.set(table, name);
  }
  return { ...site, bucket, tables, patient };
}

/** The value of a column in a copy `c`. */
function valueOf({ table, name, type }: Column): string {
  const text = `pg_temp.copied(t.${name}::text, c)`;
  // The gateway's UUIDv7s are in `copied`, PostgreSQL's UUIDv4s are not.
  if (name === 'audit_id' || name === 'study_id') return `(c.prefix || substr(t.${name}::text, 9))::uuid`;
  if (type === 'bytea') return `convert_to(pg_temp.copied(convert_from(t.${name}, 'LATIN1'), c), 'LATIN1')`;
  if (table === 'hl7_message' && name === 'sha256') {
    const raw = valueOf({ table, name: 'raw', type: 'bytea' });
    return `translate(encode(sha256(${raw}), 'base64'), '+/=', '-_')`;
  }
  // The key is a digest, which has no mark (migrations/functions/token_key.sql).
  if (name === 'code_key')
    return `(select coalesce(max(token_key('Observation', 'code', pg_temp.copied(code, c))), t.code_key)
               from unnest('{${codesOf(MARK.code).join()}}'::text[]) code where token_key('Observation', 'code', code) = t.code_key)`;
  if (type === 'timestamp with time zone')
    return table === 'resource_date' ? `t.${name} + c.days * interval '1 day'` : `t.${name} + c.shift`;
  return /^(?:boolean|smallint|integer|bigint|integer\[\])$/.test(type) ? `t.${name}` : `${text}::${type}`;
}

/** PostgreSQL inlines it. */
function copiedFunction({ site, fhirClient, hl7Client, bucket, patient = '@patient@' }: Recording): string {
  const plain = (date: string): string => date.replaceAll('-', '');
  const replaced: readonly (readonly [string, string])[] = [
    [patient, `'@patient@'`],
    [`${prefixOf(bucket)}-`, `c.prefix || '-'`],
    [site, 'c.site'],
    [fhirClient, 'c.fhir_client'],
    [hl7Client, 'c.hl7_client'],
    [MARK.number, 'c.number'],
    [MARK.number.toLowerCase(), 'c.number'],
    [MARK.family, 'c.family'],
    [MARK.family.toLowerCase(), 'lower(c.family)'],
    [MARK.code, 'c.code'],
    [MARK.birthDate, 'c.birth_date'],
    [plain(MARK.birthDate), `replace(c.birth_date, '-', '')`],
    [MARK.day, 'c.day'],
    [plain(MARK.day), `replace(c.day, '-', '')`],
    [epochOf(MARK.day), 'c.epoch'],
    ['@patient@', `'${patient}'`],
  ];
  const body = replaced.reduce((text, [mark, value]) => `replace(${text}, '${mark}', ${value})`, 't');
  return `create or replace function pg_temp.copied(t text, c copies) returns text language sql immutable as $$ select ${body} $$`;
}

const COPY_TABLE = `create temp table if not exists copies (n integer, site text, fhir_client text, hl7_client text, number text, family text,
  code text, birth_date text, day text, prefix text, shift interval, days integer, epoch text)`;

interface CopySet {
  readonly recording: Recording;
  readonly copies: readonly Copy[];
}

/** @throws if a copied row has a mark: the form of a value is unknown to `copiedFunction` */
async function requireNoMarks(client: Client, sets: readonly CopySet[]): Promise<void> {
  for (const table of new Set(sets.flatMap(({ recording }) => [...recording.tables.keys()]))) {
    const { rows } = await client.query<{ row: string }>(
      `select t::text as row from ${table} t where site_id <> all ($1) and t::text ~* $2 limit 1`,
      [sets.map(({ recording }) => recording.site), Object.values(MARK).join('|')],
    );
    if (rows[0] !== undefined) throw new Error(`a copy in ${table} has a mark: ${rows[0].row}`);
  }
}

/**
 * @param sets recordings with their copies, each in the order of time
 * @param copied is called with the share that is done
 */
export async function copyAll(
  client: Client,
  sets: readonly CopySet[],
  copied: (done: number, all: number) => void,
): Promise<void> {
  const CHUNKS = 100;
  const columns = await columnsOf(client);
  await client.query(COPY_TABLE);
  // Parts of each set alternate, so that the rows are stored about in the order of time.
  for (let chunk = 0; chunk < CHUNKS; chunk += 1) {
    for (const { recording, copies } of sets) {
      const part = copies.slice((copies.length * chunk) / CHUNKS, (copies.length * (chunk + 1)) / CHUNKS);
      const rows = part.map((copy, n) => ({
        ...copy,
        n,
        fhir_client: copy.fhirClient,
        hl7_client: copy.hl7Client,
        birth_date: copy.birthDate,
        prefix: prefixOf(copy.bucket),
        shift: `${((copy.bucket - recording.bucket) * BUCKET_MS) / 1000} s`,
        days: (Date.parse(copy.day) - Date.parse(MARK.day)) / 86_400_000,
        epoch: epochOf(copy.day),
      }));
      await client.query('truncate copies');
      await client.query('insert into copies select * from jsonb_populate_recordset(null::copies, $1)', [
        JSON.stringify(rows),
      ]);
      await client.query(copiedFunction(recording));
      for (const [table, temporary] of recording.tables) {
        const all = columns.get(table) ?? [];
        await client.query(
          `insert into ${table} (${all.map(({ name }) => name).join(', ')})
             select ${all.map(valueOf).join(', ')}
               from copies c cross join ${temporary} t order by c.n`,
        );
      }
    }
    if (chunk === 0) await requireNoMarks(client, sets);
    copied(chunk + 1, CHUNKS);
  }
}
