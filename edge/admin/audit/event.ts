/**
 * A row of the audit as FHIR AuditEvent (R4), for an archive: DICOM's event types (PS3.16 CID 400), R4's
 * restful-interaction, and IHE's entity for the request id (BALP, BasicAuditEntityType).
 */
import { isResourceType } from '../../../shared/resource-type.ts';
import type { AuditAction } from '../../store/audit.ts';
import type { AuditRow } from '../../store/admin-audit.ts';
import { actorOf } from './view.ts';

interface Coding {
  readonly system?: string;
  readonly code: string;
  readonly display?: string;
}

const dicom = (code: string, display: string): Coding => ({
  system: 'http://dicom.nema.org/resources/ontology/DCM',
  code,
  display,
});
const rest = (code: string): Coding => ({ system: 'http://hl7.org/fhir/restful-interaction', code });
const own = (code: AuditAction): Coding => ({ code });

const REST: Coding = {
  system: 'http://terminology.hl7.org/CodeSystem/audit-event-type',
  code: 'rest',
  display: 'RESTful Operation',
};
const IMPORT = dicom('110107', 'Import');
const EXPORT = dicom('110106', 'Export');
const PATIENT_RECORD = dicom('110110', 'Patient Record');
const AUTHENTICATION = dicom('110114', 'User Authentication');
const SECURITY_ALERT = dicom('110113', 'Security Alert');
const SECURITY_CONFIGURATION = dicom('110129', 'Security Configuration');
const AUDIT_LOG_USED = dicom('110101', 'Audit Log Used');

/** AuditEvent.action: create, read, update, delete, execute. */
type ActionCode = 'C' | 'R' | 'U' | 'D' | 'E';

const EVENTS: Readonly<Record<AuditAction, readonly [type: Coding, subtype: Coding, action: ActionCode]>> = {
  read: [REST, rest('read'), 'R'],
  search: [REST, rest('search-type'), 'E'],
  history: [REST, rest('history-instance'), 'R'],
  create: [REST, rest('create'), 'C'],
  update: [REST, rest('update'), 'U'],
  patch: [REST, rest('patch'), 'U'],
  batch: [REST, rest('batch'), 'E'],
  transaction: [REST, rest('transaction'), 'E'],
  export: [EXPORT, own('export'), 'R'],
  message: [IMPORT, own('message'), 'C'],
  'message-viewed': [PATIENT_RECORD, own('message-viewed'), 'R'],
  'message-replayed': [IMPORT, own('message-replayed'), 'E'],
  'attention-viewed': [PATIENT_RECORD, own('attention-viewed'), 'R'],
  workbench: [PATIENT_RECORD, own('workbench'), 'R'],
  'signed-in': [AUTHENTICATION, dicom('110122', 'Login'), 'E'],
  'signed-out': [AUTHENTICATION, dicom('110123', 'Logout'), 'E'],
  'key-created': [SECURITY_ALERT, SECURITY_CONFIGURATION, 'C'],
  'key-changed': [SECURITY_ALERT, SECURITY_CONFIGURATION, 'U'],
  'settings-changed': [SECURITY_ALERT, SECURITY_CONFIGURATION, 'U'],
  'alert-acknowledged': [SECURITY_ALERT, own('alert-acknowledged'), 'U'],
  'alert-muted': [SECURITY_ALERT, own('alert-muted'), 'U'],
  'alert-unmuted': [SECURITY_ALERT, own('alert-unmuted'), 'U'],
  'patient-erased': [PATIENT_RECORD, own('patient-erased'), 'D'],
  'audit-viewed': [AUDIT_LOG_USED, own('audit-viewed'), 'R'],
};

const PARTS: Readonly<Record<string, Coding>> = { search: rest('search-type'), history: rest('history-instance') };

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
  const [type, subtype, action] = EVENTS[row.action];
  const known = new Set(row.resources);
  const patients = row.patients.map((id) => `Patient/${id}`).filter((reference) => !known.has(reference));
  const query = row.parameters.map((name) => ({ type: 'parameter', valueString: name }));
  return {
    resourceType: 'AuditEvent',
    id: row.audit_id,
    type,
    subtype: [subtype, ...row.parts.map((part) => PARTS[part] ?? rest(part))],
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
