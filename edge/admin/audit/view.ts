/** An audit event as the JSON API returns it. */
import * as z from 'zod';

import { AUDIT_ACTION_NAMES } from '../../audit-actions.ts';
import type { ActorSumRow, AuditRow, PatientSumRow } from '../../store/admin-audit.ts';

const text = z.string();

export const auditItem = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  actorKind: z.enum(['key', 'person', 'sidecar', 'operator', 'gateway']),
  actor: text.meta({ description: 'A Client ID, the `sub` of a person, or the name of a sidecar or of an account.' }),
  called: text.nullable().meta({ description: 'The name of the key or the person.' }),
  clientId: text
    .nullable()
    .meta({ description: 'The API key of the request, or the API key that was created or changed.' }),
  address: text.nullable(),
  requestId: text,
  action: z.enum(AUDIT_ACTION_NAMES),
  parts: z.array(text).meta({ description: 'The actions of the entries of a batch or transaction.' }),
  resources: z.array(text).meta({
    description:
      '`Observation/…`, and `Hl7Message/…`, `ApiKey/…`, `Site/…`, `Alert/…`; for an export `BulkExport/…`, `ObservationFile/…`.',
  }),
  written: z.array(text).meta({
    description:
      'The versions that a FHIR client’s request made: `Observation/…/_history/2`. The changed elements are the difference to the version before.',
  }),
  patients: z.array(text).meta({ description: 'The ids of the patients concerned.' }),
  parameters: z.array(text).meta({ description: 'The names of the parameters of a search.' }),
});
export type AuditItem = z.infer<typeof auditItem>;

export function viewAudit(row: AuditRow): AuditItem {
  return {
    id: row.audit_id,
    at: row.at,
    actorKind: row.actor_kind,
    actor: actorOf(row),
    called: row.called,
    clientId: row.client_id,
    address: row.address,
    requestId: row.request_id,
    action: row.action,
    parts: [...row.parts],
    resources: [...row.resources],
    written: [...row.written],
    patients: [...row.patients],
    parameters: [...row.parameters],
  };
}

/** The name that the filter `actor` finds; the gateway has only its kind. */
export const actorOf = ({
  actor,
  actor_kind: kind,
  client_id: clientId,
}: Pick<AuditRow, 'actor' | 'actor_kind' | 'client_id'>): string => actor ?? (kind === 'key' ? clientId : null) ?? kind;

const count = z.number().int();
const sum = z.object({
  rows: count,
  seen: count.meta({ description: 'Rows that showed clinical data.' }),
  changed: count.meta({ description: 'Rows that changed clinical data.' }),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
});
export const auditSums = z.object({
  total: count.meta({ description: 'The rows that were added up, the newest.' }),
  actors: z
    .array(sum.extend({ ...auditItem.pick({ actorKind: true, actor: true, called: true }).shape, patients: count }))
    .optional(),
  patients: z.array(sum.extend({ id: z.uuid(), actors: count })).optional(),
});

const viewSum = (row: ActorSumRow | PatientSumRow): z.infer<typeof sum> => ({
  rows: row.accesses,
  seen: row.seen,
  changed: row.changed,
  firstAt: row.first_at,
  lastAt: row.last_at,
});

export function viewSums(
  actors: readonly ActorSumRow[] | undefined,
  patients: readonly PatientSumRow[] | undefined,
): z.infer<typeof auditSums> {
  return {
    total: (actors ?? patients)?.[0]?.total ?? 0,
    actors: actors?.map((row) => ({
      ...viewSum(row),
      actorKind: row.actor_kind,
      actor: actorOf(row),
      called: row.called,
      patients: row.patients,
    })),
    patients: patients?.map((row) => ({ ...viewSum(row), id: row.id, actors: row.actors })),
  };
}
