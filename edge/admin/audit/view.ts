/** A row of the audit as the JSON API answers it. */
import * as z from 'zod';

import { AUDIT_ACTION_NAMES } from '../../audit-actions.ts';
import type { AuditRow } from '../../store/admin-audit.ts';

const text = z.string();

export const auditItem = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  actorKind: z.enum(['key', 'person', 'sidecar', 'operator', 'gateway']),
  actor: text.meta({ description: 'A Client ID, the `sub` of a person, the name of a sidecar or of an account.' }),
  called: text.nullable().meta({ description: 'What people call them: the name of a key, or of a person.' }),
  clientId: text.nullable().meta({ description: 'The API key that asked, or that was made or changed.' }),
  address: text.nullable(),
  requestId: text,
  action: z.enum(AUDIT_ACTION_NAMES),
  parts: z.array(text).meta({ description: 'Of a batch or transaction: what its entries did.' }),
  resources: z.array(text).meta({
    description:
      '`Observation/…`, and `Hl7Message/…`, `ApiKey/…`, `Site/…`, `Alert/…`, of an export `BulkExport/…`, `ObservationFile/…`.',
  }),
  patients: z.array(text).meta({ description: 'The ids of the patients concerned.' }),
  parameters: z.array(text).meta({ description: 'Of a search: the names of its parameters.' }),
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
    patients: [...row.patients],
    parameters: [...row.parameters],
  };
}

/** By which name the filter `actor` finds them; what the gateway does by itself has only its kind. */
export const actorOf = ({ actor, actor_kind: kind, client_id: clientId }: AuditRow): string =>
  actor ?? (kind === 'key' ? clientId : null) ?? kind;
