/**
 * The audit actions, one a row: the text of the console, the AuditEvent of an export (edge/admin/audit/event.ts), and which
 * searches find it. SQL functions note some of them by name (`audit_note`).
 */

/** A code without a system is one of the gateway. */
interface Coding {
  readonly system?: string;
  readonly code: string;
  readonly display?: string;
}

interface Row {
  readonly label: string;
  readonly type: Coding;
  /** Left out: the action itself. */
  readonly subtype?: Coding;
  /** AuditEvent.action: create, read, update, delete, execute. */
  readonly does: 'C' | 'R' | 'U' | 'D' | 'E';
  /** `seen` shows clinical data, `changed` changes it. */
  readonly group?: 'seen' | 'changed';
  /** An entry of a batch or transaction can do it, so that a search for it finds bundles too. */
  readonly isInBundles?: true;
}

const dicom = (code: string, display: string): Coding => ({
  system: 'http://dicom.nema.org/resources/ontology/DCM',
  code,
  display,
});
const REST: Coding = {
  system: 'http://terminology.hl7.org/CodeSystem/audit-event-type',
  code: 'rest',
  display: 'RESTful Operation',
};
const rest = (code: string) => ({
  type: REST,
  subtype: { system: 'http://hl7.org/fhir/restful-interaction', code },
});

// DICOM PS3.16, CID 400.
const IMPORT = dicom('110107', 'Import');
const EXPORT = dicom('110106', 'Export');
const PATIENT_RECORD = dicom('110110', 'Patient Record');
const AUTHENTICATION = dicom('110114', 'User Authentication');
const SECURITY_ALERT = dicom('110113', 'Security Alert');
const CONFIGURATION = { type: SECURITY_ALERT, subtype: dicom('110129', 'Security Configuration') };
const AUDIT_LOG_USED = dicom('110101', 'Audit Log Used');

const rows = {
  read: { label: 'read', ...rest('read'), does: 'R', group: 'seen', isInBundles: true },
  search: { label: 'found by a search', ...rest('search-type'), does: 'E', group: 'seen', isInBundles: true },
  history: { label: 'read with its history', ...rest('history-instance'), does: 'R', group: 'seen', isInBundles: true },
  create: { label: 'created', ...rest('create'), does: 'C', group: 'changed', isInBundles: true },
  update: { label: 'updated', ...rest('update'), does: 'U', group: 'changed', isInBundles: true },
  patch: { label: 'patched', ...rest('patch'), does: 'U', group: 'changed', isInBundles: true },
  batch: { label: 'batch', ...rest('batch'), does: 'E' },
  transaction: { label: 'transaction', ...rest('transaction'), does: 'E' },
  export: { label: 'exported', type: EXPORT, does: 'R', group: 'seen' },
  notified: { label: 'sent to a subscriber', type: EXPORT, does: 'R', group: 'seen' },
  message: { label: 'HL7 message stored', type: IMPORT, does: 'C', group: 'changed' },
  'message-viewed': { label: 'HL7 message viewed', type: PATIENT_RECORD, does: 'R', group: 'seen' },
  'message-copied': { label: 'HL7 message copied for a ticket', type: PATIENT_RECORD, does: 'R' },
  'message-replayed': { label: 'HL7 message replayed', type: IMPORT, does: 'E', group: 'changed' },
  'attention-viewed': { label: 'listed under Attention', type: PATIENT_RECORD, does: 'R', group: 'seen' },
  workbench: { label: 'viewed in the workbench', type: PATIENT_RECORD, does: 'R', group: 'seen' },
  'signed-in': { label: 'signed in', type: AUTHENTICATION, subtype: dicom('110122', 'Login'), does: 'E' },
  'signed-out': { label: 'signed out', type: AUTHENTICATION, subtype: dicom('110123', 'Logout'), does: 'E' },
  'key-created': { label: 'API key created', ...CONFIGURATION, does: 'C' },
  'key-changed': { label: 'API key changed', ...CONFIGURATION, does: 'U' },
  'link-created': { label: 'link of an API key created', ...CONFIGURATION, does: 'C' },
  'link-revoked': { label: 'link of an API key revoked', ...CONFIGURATION, does: 'U' },
  'settings-changed': { label: 'settings changed', ...CONFIGURATION, does: 'U' },
  'code-table-changed': { label: 'code table changed', ...CONFIGURATION, does: 'U' },
  'code-table-deleted': { label: 'code table deleted', ...CONFIGURATION, does: 'D' },
  'code-table-live': { label: 'version of a code table made live', ...CONFIGURATION, does: 'U' },
  'rules-changed': { label: 'draft of the rules of an API key changed', ...CONFIGURATION, does: 'U' },
  'rules-live': { label: 'rules of an API key made live or switched off', ...CONFIGURATION, does: 'U' },
  'alert-acknowledged': { label: 'alert acknowledged', type: SECURITY_ALERT, does: 'U' },
  'alert-silenced': { label: 'alert silenced', type: SECURITY_ALERT, does: 'U' },
  'alert-unsilenced': { label: 'silence of an alert ended', type: SECURITY_ALERT, does: 'U' },
  'subscription-paused': { label: 'subscription paused', type: SECURITY_ALERT, does: 'U' },
  'subscription-resumed': { label: 'subscription resumed', type: SECURITY_ALERT, does: 'U' },
  'subscription-resent': { label: 'events of a subscription sent again', type: EXPORT, does: 'E' },
  'subscription-deleted': { label: 'subscription deleted', type: SECURITY_ALERT, does: 'D' },
  'audit-viewed': { label: 'audit viewed', type: AUDIT_LOG_USED, does: 'R' },
  'merge-viewed': { label: 'merge viewed', type: PATIENT_RECORD, does: 'R', group: 'seen' },
  'patient-unmerged': { label: 'merge undone', type: PATIENT_RECORD, does: 'U', group: 'changed' },
  'patient-erased': { label: 'patient erased', type: PATIENT_RECORD, does: 'D', group: 'changed' },
} as const satisfies Readonly<Record<string, Row>>;

export type AuditAction = keyof typeof rows;
export const AUDIT_ACTIONS: Readonly<Record<AuditAction, Row>> = rows;
// Object.keys loses the names' type.
export const AUDIT_ACTION_NAMES = Object.keys(rows) as AuditAction[];

/** AuditEvent.subtype. */
export const subtypeOf = (action: AuditAction): Coding => AUDIT_ACTIONS[action].subtype ?? { code: action };
