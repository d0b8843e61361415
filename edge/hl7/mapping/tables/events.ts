/**
 * The accepted messages and the effect of each event (edge/docs/behaviour.md, HL7 v2, Accepted messages): message type to
 * trigger events.
 */

/** The effect of an event on the patient of the message. */
export type PatientAction =
  | 'upsert' // created or updated from PID and PD1
  | 'retain' // a visit is deleted: as upsert, but whether the patient is active is not its matter
  | 'deactivate' // the person is deleted
  | 'merge' // the patient of MRG into the patient of PID
  | 'renumber' // the patient of MRG gets the number of PID
  | 'link' // the patients of the message are records of one person
  | 'unlink'
  | 'not-moved' // created or updated; what was to be moved to it stays where it is
  | 'ensure'; // created when unknown; a known one is not changed by a result or a document

/** The effect of an MDM event on its document (HL7 v2.5.1 §9.6). */
export type DocumentAction = 'store' | 'change' | 'append' | 'replace' | 'cancel';

export interface EventRule {
  readonly patient: PatientAction;
  /** The event is also about PID-2 and MRG-4, if they have a value. */
  readonly isExternal?: boolean;
  readonly document?: DocumentAction;
  /** "And content": the document is in the message (HL7 v2.5.1 §9.6.2 and others). */
  readonly hasContent?: true;
  /** The main part of the message becomes no resource: of a visit or bed, or an order. */
  readonly beyond?: 'no-effect' | 'no-resource';
  /** The message is about a bed, or about specimens of quality control. */
  readonly mayLackPatient?: true;
  /** DG1 is a reason for an order, not an established diagnosis. */
  readonly isProvisional?: true;
  /** PRB names problems to delete. */
  readonly deletesProblems?: true;
}

const rules = (events: readonly string[], rule: EventRule) => events.map((event) => [event, rule] as const);

const ADT: ReadonlyMap<string, EventRule> = new Map<string, EventRule>([
  ...rules(['A01', 'A02', 'A03', 'A04', 'A05', 'A06', 'A07', 'A08', 'A09', 'A10'], { patient: 'upsert' }),
  ...rules(['A13', 'A14', 'A15', 'A16', 'A17', 'A28', 'A31', 'A60'], { patient: 'upsert' }),
  ...rules(['A18', 'A30', 'A34', 'A36', 'A40'], { patient: 'merge' }),
  ...rules(['A39'], { patient: 'merge', isExternal: true }),
  ...rules(['A47'], { patient: 'renumber' }),
  ...rules(['A46'], { patient: 'renumber', isExternal: true }),
  ...rules(['A24'], { patient: 'link' }),
  ...rules(['A37'], { patient: 'unlink' }),
  ...rules(['A43', 'A44', 'A45'], { patient: 'not-moved' }),
  // The status of a bed (HL7 v2.5.1 §3.3.20).
  ['A20', { patient: 'upsert', beyond: 'no-effect', mayLackPatient: true }],
  // A visit is deleted, the person stays (HL7 v2.5.1 §3.3.23).
  ['A23', { patient: 'retain', beyond: 'no-effect' }],
  ['A29', { patient: 'deactivate' }],
]);

/** Every other ADT: of visits, accounts, beds and bar codes, or of a sender's invention. */
const OTHER_ADT: EventRule = { patient: 'upsert', beyond: 'no-effect' };

const MDM: ReadonlyMap<string, EventRule> = new Map<string, EventRule>([
  ...rules(['T01'], { patient: 'ensure', document: 'store' }),
  ...rules(['T02'], { patient: 'ensure', document: 'store', hasContent: true }),
  ...rules(['T03', 'T07'], { patient: 'ensure', document: 'change' }),
  ...rules(['T04', 'T08'], { patient: 'ensure', document: 'change', hasContent: true }),
  ...rules(['T05'], { patient: 'ensure', document: 'append' }),
  ...rules(['T06'], { patient: 'ensure', document: 'append', hasContent: true }),
  ...rules(['T09'], { patient: 'ensure', document: 'replace' }),
  ...rules(['T10'], { patient: 'ensure', document: 'replace', hasContent: true }),
  ...rules(['T11'], { patient: 'ensure', document: 'cancel' }),
]);

/** Results, also of point-of-care devices, alarms and waveforms (HL7 v2.5.1 §7.3, v2.6 §7.3). */
const ORU: ReadonlyMap<string, EventRule> = new Map<string, EventRule>(
  rules(['R01', 'R30', 'R31', 'R32', 'R40', 'W01'], { patient: 'ensure' }),
);

/** Results by specimen, container or order (HL7 v2.5.1 §7.3.8 to §7.3.10). */
const OUL: ReadonlyMap<string, EventRule> = new Map<string, EventRule>(
  rules(['R22', 'R23', 'R24'], { patient: 'ensure', mayLackPatient: true }),
);

/** Problems (HL7 v2.5.1 §12.2). */
const PPR: ReadonlyMap<string, EventRule> = new Map<string, EventRule>([
  ...rules(['PC1', 'PC2'], { patient: 'ensure' }),
  ['PC3', { patient: 'ensure', deletesProblems: true }],
]);

const ORDER: EventRule = { patient: 'ensure', beyond: 'no-resource', isProvisional: true };

/** By message type, the rule of an event; undefined for an event that is not accepted. */
const TYPES: ReadonlyMap<string, (event: string) => EventRule | undefined> = new Map([
  ['ADT', (event: string) => ADT.get(event) ?? OTHER_ADT],
  ['ORU', (event: string) => ORU.get(event)],
  ['OUL', (event: string) => OUL.get(event)],
  ['MDM', (event: string) => MDM.get(event)],
  ['PPR', (event: string) => PPR.get(event)],
  ['ORM', (event: string) => (event === 'O01' ? ORDER : undefined)],
  ['OML', (event: string) => (event === 'O21' ? ORDER : undefined)],
]);

/** The event of a message that names none. The events of ADT and MDM differ too much for a usual one. */
const USUAL_EVENTS: ReadonlyMap<string, string> = new Map([
  ['ORU', 'R01'],
  ['OUL', 'R22'],
  ['PPR', 'PC1'],
  ['ORM', 'O01'],
  ['OML', 'O21'],
]);

export const usualEventOf = (messageType: string): string | undefined => USUAL_EVENTS.get(messageType);

/** Types that ask for data and wait for an answer with it (HL7 v2.5.1 §5.3, table 0076). */
const QUERIES: ReadonlySet<string> = new Set(
  'EQQ OSQ QBP QCN QRY QSB QSX QVR RQA RQC RQI RQP RQQ SPQ SQM VQQ VXQ'.split(' '),
);

export const isQuery = (messageType: string): boolean => QUERIES.has(messageType);

export const isMappedType = (messageType: string): boolean => TYPES.has(messageType);

/** The rule of a message; undefined for a message that is not accepted. */
export const ruleOf = (messageType: string, event: string): EventRule | undefined => TYPES.get(messageType)?.(event);

/** Versions that are read as 2.5.1. Later additions at the end of fields and segments are ignored (§2.8.2). */
export const VERSIONS: ReadonlySet<string> = new Set([
  '2.2',
  '2.3',
  '2.3.1',
  '2.4',
  '2.5',
  '2.5.1',
  '2.6',
  '2.7',
  '2.7.1',
  '2.8',
  '2.8.1',
  '2.8.2',
]);

/** Checks whether a result may have OBX before any order: from 2.7 on they are the patient's (HL7 v2.7 §7.3.1). */
export const hasPatientResults = (versionId: string): boolean => /^2\.[78](?:\.|$)/.test(versionId);
