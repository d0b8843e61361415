/**
 * All resources of one person: the patient, the patients that were merged into it (Patient.link of type replaced-by), and the
 * resources about any of them.
 */
import type { Query } from '../deps.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { auditItem } from './audit.ts';
import { NO_RESOURCES, type PageRow, withinBudget, withinBudgetWith } from './page.ts';
import { factsOf } from './provenance.ts';
import { binder, siteOf } from './sql.ts';

/** The least id. */
const LOWEST = '00000000-0000-0000-0000-000000000000';

/** The patient, noted for the audit; no row when the site has no such patient. `survivor`: the patient itself, or the merge's survivor. */
export function everythingSubject(site: string, patient: string): Query<{ survivor: string }> {
  return {
    text: `select patient_survivor(site_id, id) as survivor, audit_note(array[${auditItem('search', 'resource')}]) as noted
      from resource where site_id = $1::uuid and type = 'Patient' and id = $2::uuid`,
    params: [site, patient],
    reads: true,
  };
}

export interface EverythingSelection {
  readonly site: string;
  readonly patient: string;
  /** The requested types in the order of the answer, in which Patient is the first. */
  readonly types: readonly ResourceType[];
  /** The resource before the page; null: the first page. Its type is the first of `types`, or not in `types`. */
  readonly after: { readonly type: ResourceType; readonly id: string } | null;
  /** An ISO instant: resources that changed from then on; null: all. */
  readonly since: string | null;
  readonly limit: number;
  /** With the facts of each for its Provenance. */
  readonly withFacts?: boolean;
}

/**
 * One page and the row after it, if it exists: the patient, the patients that were merged into it, then the other resources.
 * These are ordered by type and id, for all the patients together. So a merge between two pages moves no resource to another place. The page is
 * empty when the site has no such patient. @see toPage
 */
export function everythingPage(selection: EverythingSelection): Query<PageRow> {
  const { params, bind } = binder();
  const { patient, types, after, limit } = selection;
  const site = siteOf(bind, selection.site);
  const asked = `${bind(patient)}::uuid`;
  const rest = `limit ${bind(limit + 1)}::integer`;
  const since = selection.since === null ? '' : `and x.last_updated >= ${bind(selection.since)}::timestamptz`;
  const [first] = types;
  const beyond = after !== null && after.type === first && after.id !== patient ? after.id : LOWEST;
  const patients = (): string => `select 'Patient' as type, x.id, case when x.id = ${asked} then 0 else 1 end as place
      from merged m
     cross join lateral (
       select x.id from resource x where x.site_id = ${site} and x.type = 'Patient' and x.id = m.id ${since} limit 1) x
     ${after === null ? '' : `where x.id <> ${asked} and x.id > ${bind(beyond)}::uuid`}`;
  const others = types.filter((type) => type !== 'Patient');
  const begins = others[0] === first ? beyond : LOWEST;
  // By type, because an index has this order for each patient.
  const about = `select t.type, x.id, t.n + 1 as place
      from merged m
     cross join unnest(${bind(others)}::text[]) with ordinality t (type, n)
     cross join lateral (
       select x.id from resource x
        where x.site_id = ${site} and x.patient_id = m.id and x.type = t.type
          and x.id > case t.n when 1 then ${bind(begins)}::uuid else '${LOWEST}'::uuid end ${since}
        order by x.id ${rest}) x`;
  // `union` ends at links in a circle: each patient is found once.
  const rows = `with recursive merged (id) as (
      select x.id from resource x where x.site_id = ${site} and x.type = 'Patient' and x.id = ${asked}
      union
      select x.id from merged m
       cross join lateral (select x.id from resource x where x.site_id = ${site} and x.replaced_by = m.id offset 0) x)
  select r.type, r.id, r.version, r.last_updated, r.meta, r.body, r.patient_id, null::text as sort_key, k.place as part
    from (select u.type, u.id, u.place from (${first === 'Patient' ? `${patients()} union all ` : ''}${about}) u
           order by u.place, u.id ${rest}) k
   cross join lateral (
     select x.* from resource x where x.site_id = ${site} and x.type = k.type and x.id = k.id limit 1) r`;
  const order = 'p.part, p.id';
  const reader = { action: 'search', limit } as const;
  const text =
    selection.withFacts === true
      ? withinBudgetWith(
          { ctes: '', rows: NO_RESOURCES, facts: factsOf(site, 'q'), over: [] },
          `select p.*, 0 as included_bytes from (${rows}) p`,
          order,
          reader,
        )
      : withinBudget(rows, order, reader);
  return { text, params, reads: true };
}
