/**
 * Many patients and their resources, inserted by a few statements, for query plans, which depend on the number of rows.
 * The contents are minimal; the search columns are as the gateway writes them.
 */
import type { Client } from 'pg';

export const GIVEN =
  // prose-allow: sentence
  'anna maria peter james john mary robert linda michael susan william karen david nancy richard lisa joseph betty ' +
  'thomas helen charles sandra daniel donna matthew carol anthony ruth mark sharon paul michelle steven laura andrew ' +
  'sarah kenneth kimberly george deborah joshua jessica kevin shirley brian cynthia edward angela ronald melissa';
export const SYLLABLES =
  // prose-allow: sentence, he
  'mac ber son al ton ri ven gar do mil ler o ka ma ra he in schu sta nov ak bel lo fer nan des ric hard wil li am ' +
  'gon za lez tor res pe kov ski fitz ger ald brad shaw';

/** Ids in the order of creation, as UUIDv7 are; `k` separates types. */
const id = (k: number, i: string): string =>
  `('01900000-' || lpad(to_hex(${i} >> 12), 4, '0') || '-7' || lpad(to_hex(${i} & 4095), 3, '0') || '-800${k}-' || right($1::uuid::text, 12))::uuid`;

/** Deterministic, and without the pattern that `i % n` would have with the ids. */
const pick = (list: string, i: string, salt: number): string =>
  `(${list})[1 + abs(hashint4(${i} * 31 + ${salt})) % cardinality(${list})]`;
const given = (i: string, salt: number): string => pick(`string_to_array('${GIVEN}', ' ')`, i, salt);
const family = (i: string): string =>
  [1, 2, 3].map((salt) => pick(`string_to_array('${SYLLABLES}', ' ')`, i, salt)).join(' || ');

/** A token of each resource; SQL of its parts. @param k as of `id` */
const tokens = (type: string, param: string, code: string, system: string, k: number): string =>
  `insert into resource_token (site_id, id, code_key, system_key)
   select $1::uuid, ${id(k, 'i')}, token_key('${type}', ${param}, ${code}), token_key('${type}', ${param}, ${system})
     from generate_series(1, $2::integer) i`;

const STATEMENTS: readonly string[] = [
  `insert into resource (site_id, type, id, version, last_updated, meta, body)
   select $1::uuid, 'Patient', ${id(1, 'i')}, 1, '2026-01-01'::timestamptz + i * interval '1 s', '', '"active":true'
     from generate_series(1, $2::integer) i`,
  `insert into patient_search (site_id, id, names, name_sort, birth_date, gender, families, givens, exact)
   select $1::uuid, ${id(1, 'i')}, n.given || ' ' || n.family || E'\\n' || n.given || E'\\n' || n.family, n.given || ' ' || n.family,
          case when i % 4 = 0 then '' else to_char(date '1930-01-01' + abs(hashint4(i)) % 33000, 'YYYY-MM-DD') end, case i % 2 when 0 then 'male' else 'female' end,
          E'\\n' || n.family || E'\\n', E'\\n' || n.given || E'\\n', E'\\nF' || n.family || E'\\nG' || n.given || E'\\n'
     from (select i, ${given('i', 7)} as given, ${family('i')} as family from generate_series(1, $2::integer) i offset 0) n`,
  `insert into patient_name (site_id, part, name, id)
   select site_id, n.part, btrim(n.name, E'\\n'), id
     from patient_search, lateral (values ('family', families), ('given', givens)) n(part, name) where site_id = $1::uuid and $2 > 0`,
  `insert into resource_identifier (site_id, type, value, system, id)
   select $1::uuid, 'Patient', 'MRN' || i, 'urn:mrn', ${id(1, 'i')} from generate_series(1, $2::integer) i`,
  // Each patient has two of each, on average; half of the codes are one and the same.
  ...['Observation', 'Condition', 'DocumentReference'].flatMap((type, n) => [
    `insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
     select $1::uuid, '${type}', ${id(n + 2, 'i')}, 1, '2026-01-01'::timestamptz + i * interval '1 s', '', '"status":"final"',
            ${id(1, `(1 + abs(hashint4(i)) % greatest($2::integer / 2, 1))`)}
       from generate_series(1, $2::integer) i`,
    tokens(
      type,
      `'${type === 'DocumentReference' ? 'type' : 'code'}'`,
      "case when i % 2 = 0 then 'common' else 'c' || (i % 5000) end",
      "'urn:codes'",
      n + 2,
    ),
  ]),
  tokens('Condition', "'clinical-status'", "case when i % 20 = 0 then 'resolved' else 'active' end", "'urn:status'", 3),
  // A result each half an hour, some a few days late; nearly all of the laboratory, and final. One of 500 has no date.
  tokens(
    'Observation',
    "'category'",
    "case when i % 50 = 0 then 'vital-signs' else 'laboratory' end",
    "'urn:category'",
    2,
  ),
  tokens('Observation', "'status'", "case when i % 50 = 0 then 'amended' else 'final' end", "''", 2),
  `${tokens('Observation', "'missing'", "'date'", "''", 2)} where i % 500 = 0`,
  `insert into resource_date (site_id, id, date_key, from_at, before_at, from_is_local, before_is_local, patient_id)
   select $1::uuid, ${id(2, 'i')}, date_key('Observation', 'date'), d.at, d.at + interval '1 s', false, false,
          ${id(1, `(1 + abs(hashint4(i)) % greatest($2::integer / 2, 1))`)}
     from (select i, '2020-01-01'::timestamptz + i * interval '30 minutes' - abs(hashint4(i)) % 5 * interval '1 day' as at
             from generate_series(1, $2::integer) i where i % 500 <> 0) d`,
  `insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
   select $1::uuid, 'DiagnosticReport', ${id(5, 'i')}, 1, '2026-01-01'::timestamptz + i * interval '1 s', '', '"status":"final"',
          ${id(1, `(1 + abs(hashint4(i)) % greatest($2::integer / 2, 1))`)}
     from generate_series(1, $2::integer) i`,
  // Each Observation was changed once.
  `insert into resource_history (site_id, type, id, version, last_updated, meta, body, patient_id, written_by)
   select site_id, type, id, 0, last_updated - interval '1 min', meta, body, patient_id, 0
     from resource where site_id = $1::uuid and type = 'Observation' and $2 > 0`,
  `insert into study (site_id, study_id, patient_id)
   select site_id, id, patient_id from resource where site_id = $1::uuid and type = 'DiagnosticReport' and $2 > 0`,
  `insert into report (site_id, report_id, study_id, state)
   select site_id, id, id, case when hashint4(version + ascii(right(id::text, 1))) % 20 = 0 then 'draft' else 'completed' end
     from resource where site_id = $1::uuid and type = 'DiagnosticReport' and $2 > 0`,
];

/** @param site must exist */
export async function populate(client: Pick<Client, 'query'>, site: string, patients: number): Promise<void> {
  for (const statement of STATEMENTS) await client.query(statement, [site, patients]);
}
