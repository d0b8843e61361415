/** Searches and exports the audit of a site. `audit_add` (migrations/functions) writes it. */
import { isClientId } from '../../shared/oauth/client-id.ts';
import { AUDIT_ACTION_NAMES, AUDIT_ACTIONS, type AuditAction } from '../audit-actions.ts';
import type { Query } from '../deps.ts';
import type { AuditActor } from './audit.ts';
import { type Bind, binder, instantOf, read, siteOf } from './sql.ts';

export interface AuditFilter {
  /** The id of a Patient; '' for all, as with the other members. */
  readonly patient: string;
  /** Instead of the id: an identifier value of patients. */
  readonly patientIdentifier: string;
  /** The API key of the request, or the API key that was changed. */
  readonly clientId: string;
  /** A Client ID, the provider's `sub` of a person, or the name of a sidecar or of an operator's account. */
  readonly actor: string;
  /** One of these; none: all. */
  readonly actions: readonly AuditAction[];
  readonly from: string;
  readonly to: string;
}

export interface AuditRow {
  readonly audit_id: string;
  /** With microseconds, for the cursor. */
  readonly at: string;
  readonly actor_kind: AuditActor['kind'];
  readonly actor: string | null;
  /** The name of the key, or of a person who has signed in; null if unknown. */
  readonly called: string | null;
  readonly client_id: string | null;
  readonly address: string | null;
  readonly request_id: string;
  readonly action: AuditAction;
  readonly parts: readonly AuditAction[];
  /** `Patient/…` */
  readonly resources: readonly string[];
  /** The versions that a FHIR client's write made: `Patient/…/_history/2`. */
  readonly written: readonly string[];
  readonly patients: readonly string[];
  readonly parameters: readonly string[];
}

/** `newest` first for people, `oldest` first for an archive. */
export type AuditOrder = 'newest' | 'oldest';

const COLUMNS = `a.audit_id, ${instantOf('a.at', 'microsecond')} as at, a.actor_kind, a.actor, a.client_id, a.address,
  a.request_id, a.action, coalesce(a.parts, '{}') as parts, array(select t || '/' || i from unnest(a.types, a.ids) u(t, i)) as resources,
  array(select t || '/' || i || '/_history/' || v from unnest(a.types, a.ids, a.versions) u(t, i, v) where v is not null) as written,
  a.patients::text[] as patients, coalesce(a.parameters, '{}') as parameters,
  case a.actor_kind when 'person' then (select p.name from console_person p where p.site_id = a.site_id and p.subject = a.actor)
    when 'key' then (select k.name from api_key k where k.site_id = a.site_id and k.client_id = a.client_id) end as called`;

/** SQL: the ids of patients with an identifier (patient_identity); its `where` follows. */
const IDENTIFIED = 'select distinct n.id from patient_identity n';

/** SQL: the condition of the index of accesses to one patient. */
const ALONE = 'cardinality(a.patients) = 1';

const actorSql = (actor: string, bind: Bind): string =>
  isClientId(actor) ? `a.client_id = ${bind(actor)} and a.actor_kind = 'key'` : `a.actor = ${bind(actor)}`;

/**
 * Rows of a site. Accesses to one patient are read from their index by patient and time. Accesses to several patients come from the
 * index of patients: the statistics do not know how rare one patient is. Exports are among them, because they can hold each
 * patient. Rows of an action come from its index, beside those of bundles that contain it.
 *
 * @param after at and audit_id of the last one of the page before, or null
 */
export function listAudit(
  site: string,
  filter: AuditFilter,
  order: AuditOrder,
  after: readonly string[] | null,
  limit: number,
): Query<AuditRow> {
  const { params, bind } = binder();
  return { text: rowsSql(COLUMNS, bind, site, filter, order, after, limit), params };
}

/** SQL: these columns of the rows. */
function rowsSql(
  columns: string,
  bind: Bind,
  site: string,
  { patient, patientIdentifier, clientId, actor, actions, from, to }: AuditFilter,
  order: AuditOrder,
  after: readonly string[] | null,
  limit: number,
): string {
  const [direction, beyond] = order === 'newest' ? ['desc', '<'] : ['asc', '>'];
  const ofSite = siteOf(bind, site);
  const starts = from === '' ? [] : [`${bind(from)}::timestamptz`];
  const ends = to === '' ? [] : [`${bind(to)}::timestamptz`];
  const times = [...starts.map((time) => `a.at >= ${time}`), ...ends.map((time) => `a.at < ${time}`)];
  if (after !== null) {
    const last = `${bind(after[0] ?? '')}::timestamptz`;
    (order === 'newest' ? ends : starts).push(last);
    times.push(`(a.at, a.audit_id) ${beyond} (${last}, ${bind(after[1] ?? '')}::uuid)`);
  }
  const who = [
    `a.site_id = ${ofSite}`,
    ...(clientId === '' ? [] : [`a.client_id = ${bind(clientId)}`]),
    ...(actor === '' ? [] : [actorSql(actor, bind)]),
  ];
  const end = `order by at ${direction}, audit_id ${direction} limit ${bind(limit)}::integer`;
  const page = (source: string, ...conditions: readonly string[]): string =>
    `select a.* from ${source} a where ${[...who, ...times, ...conditions].join(' and ')} ${end}`;
  // The times again, by the indexes of minutes. The planner would multiply the shares of rows that both select, and expect so few
  // rows that it sorts all of them. It expects half of the rows of a `case`.
  const minutes = [
    ...(starts.length === 0 ? [] : [`a.minute >= audit_minute(greatest(${starts.join(', ')}))`]),
    ...(ends.length === 0 ? [] : [`a.minute <= audit_minute(least(${ends.join(', ')}))`]),
    ...(times.length === 0 ? [] : [`case when ${times.join(' and ')} then true else false end`]),
  ];
  const pageByMinute = (...conditions: readonly string[]): string =>
    `(select a.* from audit a where ${[...who, ...conditions, ...minutes].join(' and ')}
     order by minute ${direction}, at ${direction}, audit_id ${direction} limit ${bind(limit)}::integer)`;

  if (patient !== '' || patientIdentifier !== '') {
    const done = actions.length === 0 ? [] : [`(a.action || a.parts) && ${bind(actions)}::text[]`];
    const of = (source: string, ...conditions: readonly string[]): string => page(source, ...conditions, ...done);
    let ofOne: string;
    let concerned: string;
    if (patient === '') {
      // Several patients may have one identifier value.
      const identified = `${IDENTIFIED} where n.site_id = ${ofSite} and n.value = ${bind(patientIdentifier)}`;
      ofOne = `select b.* from (${identified}) k cross join lateral (${of('audit_here', ALONE, 'a.patients[1] = k.id')}) b`;
      concerned = `&& array(${identified})`;
    } else {
      const id = `${bind(patient)}::uuid`;
      ofOne = of('audit_here', ALONE, `a.patients[1] = ${id}`);
      concerned = `@> array[${id}]`;
    }
    // An export has no patients, because it can hold each of them.
    return `with together as materialized (
  select * from audit_here where cardinality(patients) > 1 and patients ${concerned}
)
select ${columns} from ((${ofOne}) union all (${of('together')}) union all ${pageByMinute(`a.action = 'export'`, ...done)}) a ${end}`;
  }
  const isOfKey = clientId !== '' || isClientId(actor);
  if (actions.length === 0) return `select ${columns} from (${isOfKey ? pageByMinute() : page('audit')}) a ${end}`;
  const parts = actions.filter((action) => AUDIT_ACTIONS[action].isInBundles);
  const done = actions.map((action) => pageByMinute(`a.action = ${bind(action)}`));
  if (parts.length === 0) return `select ${columns} from (${done.join(' union all ')}) a ${end}`;
  const inBundles = `(select b.* from did d cross join lateral (${page('audit_here', BUNDLES, 'a.parts = d.parts')}) b
     where d.parts && ${bind(parts)}::text[])`;
  return `with recursive ${didSql(ofSite)}
select ${columns} from (${[...done, inBundles].join(' union all ')}) a ${end}`;
}

/** So many patients of a row have their names. */
const MAX_NAMED = 10;

export interface NamedAuditRow extends AuditRow {
  /** JSON: the first name of patients by id, null for a patient without a name; null for none. */
  readonly names: string | null;
  /** JSON: type and control id of messages by id; null for none. */
  readonly messages: string | null;
}

/** SQL: the patients with these ids, and their first names. */
const patientNames = (site: string, ids: string): string => `unnest(${ids}) u(id)
  cross join lateral (
    select ('{' || r.body || '}')::json -> 'name' -> 0 as name from resource r
     where r.site_id = ${site} and r.type = 'Patient' and r.id = u.id limit 1) p`;

/** SQL: notes for the audit that these patients were shown with their names. @param ids SQL that yields ids */
const noteNamed = (ids: string): string =>
  `select audit_note(array(select row('audit-viewed', 'Patient', x.id, null)::audit_item from (${ids}) x)) as done`;

/** The newest rows as `listAudit`, with the names of patients and messages. It notes the patients of the first `limit` rows. */
export function listAuditNamed(
  site: string,
  filter: AuditFilter,
  after: readonly string[] | null,
  limit: number,
): Query<NamedAuditRow> {
  const { params, bind } = binder();
  const ofSite = siteOf(bind, site);
  const text = `with found as materialized (
  ${rowsSql(COLUMNS, bind, site, filter, 'newest', after, limit + 1)}
), noted as materialized (${noteNamed(`select distinct u.id
    from (select * from found order by at desc, audit_id desc limit ${bind(limit)}::integer) f
   cross join unnest(f.patients[1:${MAX_NAMED}]::uuid[]) u(id)`)})
select f.*, (select json_object_agg(u.id, p.name)::text from ${patientNames(ofSite, `f.patients[1:${MAX_NAMED}]::uuid[]`)}) as names,
       (select json_object_agg(m.message_id, concat_ws(' ', m.message_type, m.control_id))::text
          from unnest(f.resources[1:${MAX_NAMED}]) u(reference)
         cross join lateral (select * from hl7_message m where m.site_id = ${ofSite}
           and m.message_id = case when starts_with(u.reference, 'Hl7Message/') then substr(u.reference, 12)::uuid end limit 1) m) as messages
  from found f cross join noted where noted.done
 order by f.at desc, f.audit_id desc`;
  return { text, params, notes: true };
}

/** Sums add up so many rows at most, the newest. */
export const MAX_SUMMED = 10_000;
/** So many sums are listed, those of the most rows. */
export const MAX_SUMS = 100;

interface SumRow {
  readonly accesses: number;
  readonly seen: number;
  readonly changed: number;
  readonly first_at: string;
  readonly last_at: string;
  /** All rows that were added up. */
  readonly total: number;
}

export interface ActorSumRow extends SumRow, Pick<AuditRow, 'actor_kind' | 'actor' | 'client_id' | 'called'> {
  readonly patients: number;
}

export interface PatientSumRow extends SumRow {
  readonly id: string;
  readonly actors: number;
  /** JSON of the first name; null without one, and if names were not requested. */
  readonly name: string | null;
}

const actionsOfGroup = (group: 'seen' | 'changed'): readonly string[] =>
  AUDIT_ACTION_NAMES.filter((action) => AUDIT_ACTIONS[action].group === group);

/** The columns that sums need; `who` is one value for each actor. */
const SUMMED = `a.at, a.audit_id, a.actor_kind, a.actor, a.patients, (a.action || a.parts) as did,
  case when a.actor_kind = 'key' then a.client_id end as client_id,
  concat_ws(' ', a.actor_kind, coalesce(a.actor, case when a.actor_kind = 'key' then a.client_id end)) as who`;

const sumsSql = (bind: Bind): string => `count(*)::int as accesses,
  count(*) filter (where f.did && ${bind(actionsOfGroup('seen'))}::text[])::int as seen,
  count(*) filter (where f.did && ${bind(actionsOfGroup('changed'))}::text[])::int as changed,
  ${instantOf('min(f.at)')} as first_at, ${instantOf('max(f.at)')} as last_at`;

/** The rows that match, added up by actor. */
export function sumAuditByActor(site: string, filter: AuditFilter): Query<ActorSumRow> {
  const { params, bind } = binder();
  const text = `with found as materialized (
  ${rowsSql(SUMMED, bind, site, filter, 'newest', null, MAX_SUMMED)}
), reached as (
  select f.who, count(distinct u.id)::int as patients from found f cross join unnest(f.patients) u(id) group by f.who
)
select g.*, coalesce(r.patients, 0) as patients, (select count(*)::int from found) as total,
       case g.actor_kind when 'person' then (select p.name from console_person p where p.site_id = ${bind(site)}::uuid and p.subject = g.actor)
         when 'key' then (select k.name from api_key k where k.site_id = ${bind(site)}::uuid and k.client_id = g.client_id) end as called
  from (select f.who, f.actor_kind, f.actor, f.client_id, ${sumsSql(bind)} from found f
         group by 1, 2, 3, 4 order by accesses desc, f.who limit ${MAX_SUMS}) g
  left join reached r on r.who = g.who
 order by g.accesses desc, g.who`;
  return { text, params };
}

/** The rows that match, added up by patient. @param isNamed with names, which notes the patients for the audit */
export function sumAuditByPatient(site: string, filter: AuditFilter, isNamed: boolean): Query<PatientSumRow> {
  const { params, bind } = binder();
  const text = `with found as materialized (
  ${rowsSql(SUMMED, bind, site, filter, 'newest', null, MAX_SUMMED)}
), summed as materialized (
  select u.id, count(distinct f.who)::int as actors, ${sumsSql(bind)}
    from found f cross join unnest(f.patients) u(id) group by u.id order by accesses desc, u.id limit ${MAX_SUMS}
)${isNamed ? `, noted as materialized (${noteNamed('select id from summed')})` : ''}
select s.*, (select count(*)::int from found) as total,
       ${isNamed ? `(select p.name::text from ${patientNames(`${bind(site)}::uuid`, 'array[s.id]')})` : 'null'} as name
  from summed s${isNamed ? ' cross join noted where noted.done' : ''}
 order by s.accesses desc, s.id`;
  return { text, params, ...(isNamed ? { notes: true } : {}) };
}

/** SQL: the condition of the index of bundles. */
const BUNDLES = `a.action in ('batch', 'transaction')`;

/**
 * SQL, recursive: what bundles of a site did, each combination once, found one by one in their index. There are some dozens
 * at most, however many bundles, so that the few that did something rare are found without passing by all others.
 */
const didSql = (site: string): string => `did as (
  (select a.parts from audit_here a where a.site_id = ${site} and ${BUNDLES} order by a.parts limit 1)
  union all
  select x.parts from did d cross join lateral (
    select a.parts from audit_here a where a.site_id = ${site} and ${BUNDLES} and a.parts > d.parts order by a.parts limit 1) x
)`;

export interface IdentifiedRow {
  readonly id: string;
}

/** The patients with an identifier; notes for the audit that their audit was read. */
export function patientsIdentified(site: string, identifier: string): Query<IdentifiedRow> {
  return {
    ...read<IdentifiedRow>`select x.id from (select distinct n.id from patient_identity n
       where n.site_id = ${site}::uuid and n.value = ${identifier} order by n.id limit 100) x
     where audit_note(array[row('audit-viewed', 'Patient', x.id, null)::audit_item])`,
    notes: true,
  };
}
