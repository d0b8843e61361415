/**
 * An audit event as FHIR AuditEvent (R4), for an archive. Its codes are DICOM's event types (PS3.16 CID 400) and R4's
 * restful-interaction; the request id is IHE's entity (BALP, BasicAuditEntityType).
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

/**
 * A FHIR resource by its reference, to the version that the event made if it made one. A message, an API key and the like by its
 * id.
 */
function entityOf(resource: string, written: readonly string[]): object {
  const [type = '', id = ''] = resource.split('/');
  if (!isResourceType(type)) return { what: { type, identifier: { value: id } } };
  const reference = written.find((version) => version.startsWith(`${resource}/`)) ?? resource;
  return { what: { reference }, ...(type === 'Patient' ? { role: PATIENT } : {}) };
}

/** The actor; for a message over MLLP the sidecar and the API key. */
function agentsOf(row: AuditRow): object[] {
  const { actor_kind: kind, client_id: clientId, address } = row;
  const network = address === null || address === 'unknown' ? {} : { network: { address, type: '2' } };
  const actor = { who: { identifier: { value: actorOf(row) } }, requestor: kind !== 'sidecar', ...network };
  const key = kind === 'sidecar' ? [{ who: { identifier: { value: clientId } }, requestor: true }] : [];
  return [...key, actor];
}

/** @returns the resource as an object for JSON, without names, content and values of parameters */
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
      ...[...row.resources, ...patients].map((resource) => entityOf(resource, row.written)),
      ...(query.length === 0 ? [] : [{ role: QUERY, detail: query }]),
      { what: { identifier: { value: row.request_id } }, type: REQUEST_ID },
    ],
  };
}
