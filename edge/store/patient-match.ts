/** The stored patients that may be the person of a `Patient/$match` request, and the settings that the comparison needs. */
import type { Query } from '../deps.ts';
import { NAMESAKES } from './alike.ts';
import type { PageRow } from './page.ts';
import { withinBudget } from './page.ts';
import { binder, read } from './sql.ts';

/** Records of one request that are compared. */
export const MAX_COMPARED = 100;
/** The compared identifiers that have a value but another authority. They can be equal if an authority is uncertain. */
const MAX_ELSEWHERE = 500;

/** The key's row of `hl7_sender` as JSON. Fails the batch (Fault `forbidden`) when the API key may not match patients. */
export const matchSettings = (site: string, clientId: string): Query<{ sender: string }> =>
  read<{ sender: string }>`select patient_match_sender(${site}::uuid, ${clientId}) as sender`;

export interface MatchLookup {
  readonly site: string;
  /** `[value, authority]`; null: the authority is not a URI, so that it may be any. */
  readonly identifiers: readonly (readonly [value: string, authority: string | null])[];
  /** As the search index has them. */
  readonly birthDate: string;
  readonly nameSort: string;
  readonly families: string;
}

/** `sort_key` is the JSON of `Known`. */
export type MatchRow = PageRow & { readonly sort_key: string };

/** The stored facts about a patient beside its record. */
export interface Known {
  /** `IdentifierRow`s with one of the values. */
  readonly numbers: readonly (readonly unknown[])[];
  readonly traits: readonly string[];
  /** The row of hl7_precedence. */
  readonly contributions: string | null;
}

/**
 * The patients with one of the identifiers, with the birth date and name, and those that they were merged into. One row more
 * than `MAX_COMPARED` shows that there are more. The audit notes all of them. Each look-up reads a limited part of an index.
 *
 * @see toPage
 */
export function matchCandidates(lookup: MatchLookup): Query<MatchRow> {
  const { params, bind } = binder();
  const held = (authority: string, limit: number): string => `
        (select x.* from patient_identity x
          where x.site_id = d.site_id and x.value = a.value ${authority}
          order by x.authority, x.id limit ${limit})`;
  const rows = `with recursive d as materialized (
      select ${bind(lookup.site)}::uuid as site_id, '00000000-0000-0000-0000-000000000000'::uuid as id,
             ${bind(lookup.birthDate)}::text as birth_date, ${bind(lookup.nameSort)}::text as name_sort,
             ${bind(lookup.families)}::text as families),
    held as materialized (
      select x.id, json_build_array(x.authority, x.value, x.number_type, x.led, x.is_assumed) as number
        from d
       cross join (select e ->> 0 as value, e ->> 1 as authority from json_array_elements(${bind(JSON.stringify(lookup.identifiers))}::json) e) a
       cross join lateral (${held('and x.authority = a.authority', MAX_COMPARED + 1)}
        union ${held('', MAX_ELSEWHERE)}) x
       where a.authority is null or x.authority = a.authority or x.authority like 'name:%' or x.is_assumed),
    -- One object, because a join might read all identifiers for each patient.
    numbers as materialized (
      select jsonb_object_agg(g.id, g.list) as of_patients
        from (select h.id, jsonb_agg(h.number) as list from held h group by h.id) g),
    chain (id, part) as (
      select h.id, 0 from held h
      union
      select n.id, 1 from d cross join lateral (${NAMESAKES}) n where length(d.birth_date) = 10 and d.name_sort <> ''
      union
      select r.replaced_by, c.part
        from chain c cross join d
       cross join lateral (
         select x.replaced_by from resource x
          where x.site_id = d.site_id and x.type = 'Patient' and x.id = c.id and x.replaced_by is not null limit 1) r)
    select r.type, r.id, r.version, r.last_updated, r.meta, r.body, null::uuid as patient_id, c.part,
           json_build_object('contributions', r.contributions,
             'numbers', coalesce(n.of_patients -> r.id::text, '[]'),
             'traits', coalesce((
               select json_agg(t.trait)
                 from (select x.trait from patient_trait x
                        where x.site_id = d.site_id and x.id = r.id order by x.trait limit 200) t), '[]'))::text as sort_key
      from (select id, min(part) as part from chain group by id order by 2, 1 limit ${MAX_COMPARED + 1}) c
     cross join d
     cross join numbers n
     cross join lateral hl7_match(d.site_id, 'patient', '', 'Patient', c.id, null) r`;
  const text = withinBudget(rows, 'p.part, p.id', { action: 'search', limit: MAX_COMPARED });
  return { text, params, reads: true };
}
