/** An audit event as the JSON API returns it. */
import * as z from 'zod';

import { AUDIT_ACTION_NAMES } from '../../audit-actions.ts';
import type { AuditRow } from '../../store/admin-audit.ts';

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
