/**
 * A row of the audit as FHIR AuditEvent (R4), for an archive: DICOM's event types (PS3.16 CID 400), R4's
 * restful-interaction, and IHE's entity for the request id (BALP, BasicAuditEntityType).
 */
import { isResourceType } from '../../../shared/resource-type.ts';
import { AUDIT_ACTIONS, subtypeOf } from '../../audit-actions.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import { actorOf } from './view.ts';

const PATIENT = { system: 'http://terminology.hl7.org/CodeSystem/object-role', code: '1', display: 'Patient' };
const QUERY = { system: 'http://terminology.hl7.org/CodeSystem/object-role', code: '24', display: 'Query' };
const REQUEST_ID = {
  system: 'https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType',
  code: 'XrequestId',
};

/** A resource of the site by reference; what is none (a message, an API key) by its id. */
function entityOf(resource: string): object {
  const [type = '', id = ''] = resource.split('/');
  if (!isResourceType(type)) return { what: { type, identifier: { value: id } } };
  return { what: { reference: resource }, ...(type === 'Patient' ? { role: PATIENT } : {}) };
}

/** Who asked, and for a message that came by a sidecar the key that it was for. */
function agentsOf(row: AuditRow): object[] {
  const { actor_kind: kind, client_id: clientId, address } = row;
  const network = address === null || address === 'unknown' ? {} : { network: { address, type: '2' } };
  const asker = { who: { identifier: { value: actorOf(row) } }, requestor: kind !== 'sidecar', ...network };
  const key = kind === 'sidecar' ? [{ who: { identifier: { value: clientId } }, requestor: true }] : [];
  return [...key, asker];
}

/** @returns the resource as JSON can print it: no names, no content, no values of parameters */
export function toAuditEvent(site: string, row: AuditRow): object {
  const { type, does: action } = AUDIT_ACTIONS[row.action];
  const known = new Set(row.resources);
  const patients = row.patients.map((id) => `Patient/${id}`).filter((reference) => !known.has(reference));
  const query = row.parameters.map((name) => ({ type: 'parameter', valueString: name }));
  return {
    resourceType: 'AuditEvent',
    id: row.audit_id,
    type,
    subtype: [row.action, ...row.parts].map(subtypeOf),
    action,
    recorded: row.at,
    outcome: '0',
    agent: agentsOf(row),
    source: { observer: { identifier: { value: site }, display: 'Integration gateway' } },
    entity: [
      ...[...row.resources, ...patients].map(entityOf),
      ...(query.length === 0 ? [] : [{ role: QUERY, detail: query }]),
      { what: { identifier: { value: row.request_id } }, type: REQUEST_ID },
    ],
  };
}
