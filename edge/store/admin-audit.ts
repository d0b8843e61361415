/** Searches and exports the audit of a site. `audit_add` (migrations/functions) writes it. */
import { AUDIT_ACTIONS, type AuditAction } from '../audit-actions.ts';
import type { Query } from '../deps.ts';
import type { AuditActor } from './audit.ts';
import { type Bind, binder, instantOf, read } from './sql.ts';

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
  a.request_id, a.action, a.parts, array(select t || '/' || i from unnest(a.types, a.ids) u(t, i)) as resources,
  array(select t || '/' || i || '/_history/' || v from unnest(a.types, a.ids, a.versions) u(t, i, v) where v is not null) as written,
  a.patients::text[] as patients, a.parameters,
  case a.actor_kind when 'person' then (select p.name from console_person p where p.site_id = a.site_id and p.subject = a.actor)
    when 'key' then (select k.name from api_key k where k.site_id = a.site_id and k.client_id = a.client_id) end as called`;

/** SQL: the ids of patients with an identifier (patient_identity); its `where` follows. */
const IDENTIFIED = 'select distinct n.id from patient_identity n';

/** SQL: the condition of the index of accesses to one patient. */
const ALONE = 'cardinality(a.patients) = 1';

const actorSql = (actor: string, bind: Bind): string =>
  actor.startsWith('svc-') ? `a.client_id = ${bind(actor)} and a.actor_kind = 'key'` : `a.actor = ${bind(actor)}`;

/**
 * Rows of a site. Accesses to one patient are read from their index by patient and time. Accesses to several patients come from the
 * index of patients: the statistics do not know how rare one patient is. Exports are among them, because they can hold each
 * patient. Rows of an action come from its index, beside those of bundles that contain it.
 *
 * @param after at and audit_id of the last one of the page before, or null
 */
export function listAudit(
  site: string,
  { patient, patientIdentifier, clientId, actor, actions, from, to }: AuditFilter,
  order: AuditOrder,
  after: readonly string[] | null,
  limit: number,
): Query<AuditRow> {
  const { params, bind } = binder();
  const [direction, beyond] = order === 'newest' ? ['desc', '<'] : ['asc', '>'];
  const ofSite = `${bind(site)}::uuid`;
  const where = [
    `a.site_id = ${ofSite}`,
    ...(clientId === '' ? [] : [`a.client_id = ${bind(clientId)}`]),
    ...(actor === '' ? [] : [actorSql(actor, bind)]),
    ...(from === '' ? [] : [`a.at >= ${bind(from)}::timestamptz`]),
    ...(to === '' ? [] : [`a.at < ${bind(to)}::timestamptz`]),
    ...(after === null
      ? []
      : [`(a.at, a.audit_id) ${beyond} (${bind(after[0] ?? '')}::timestamptz, ${bind(after[1] ?? '')}::uuid)`]),
  ].join('\n   and ');
  const last = `order by at ${direction}, audit_id ${direction} limit ${bind(limit)}::integer`;
  const page = (source: string, condition: string): string =>
    `select a.* from ${source} a where ${where}${condition === '' ? '' : ` and ${condition}`} ${last}`;

  if (patient !== '' || patientIdentifier !== '') {
    const done = actions.length === 0 ? [] : [`(a.action || a.parts) && ${bind(actions)}::text[]`];
    const of = (source: string, ...conditions: readonly string[]): string =>
      page(source, [...conditions, ...done].join(' and '));
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
    const text = `with together as materialized (
  select * from audit_here where cardinality(patients) > 1 and patients ${concerned}
)
select ${COLUMNS} from ((${ofOne}) union all (${of('together')}) union all (${of('audit', `a.action = 'export'`)})) a ${last}`;
    return { text, params };
  }
  if (actions.length === 0) return { text: `select ${COLUMNS} from (${page('audit', '')}) a ${last}`, params };
  const parts = actions.filter((action) => AUDIT_ACTIONS[action].isInBundles);
  const done = actions.map((action) => `(${page('audit', `a.action = ${bind(action)}`)})`);
  if (parts.length === 0) return { text: `select ${COLUMNS} from (${done.join(' union all ')}) a ${last}`, params };
  const inBundles = `(select b.* from did d cross join lateral (${page('audit_here', `${BUNDLES} and a.parts = d.parts`)}) b
     where d.parts && ${bind(parts)}::text[])`;
  const text = `with recursive ${didSql(ofSite)}
select ${COLUMNS} from (${[...done, inBundles].join(' union all ')}) a ${last}`;
  return { text, params };
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
