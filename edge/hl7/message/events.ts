/** Which messages are served and what each event does (edge/README.md, HL7 v2): message type to trigger events. */

/** What an event does to the patient of the message. */
export type PatientAction =
  | 'upsert' // created or updated from PID and PD1
  | 'deactivate'
  | 'merge' // the patient of MRG into the patient of PID
  | 'ensure'; // created when unknown; a known one is not changed by a result or a document

/** What an MDM event does to its document (HL7 v2.5.1 §9.6). */
export type DocumentAction = 'store' | 'append' | 'replace' | 'cancel';

export interface EventRule {
  readonly patient: PatientAction;
  readonly document?: DocumentAction;
}

const rules = (events: readonly string[], rule: EventRule) => events.map((event) => [event, rule] as const);

const ADT: ReadonlyMap<string, EventRule> = new Map<string, EventRule>([
  ...rules(['A01', 'A02', 'A03', 'A04', 'A05', 'A06', 'A07', 'A08', 'A09', 'A10'], { patient: 'upsert' }),
  ...rules(['A13', 'A14', 'A15', 'A16', 'A17', 'A28', 'A31'], { patient: 'upsert' }),
  ...rules(['A23', 'A29'], { patient: 'deactivate' }),
  ...rules(['A18', 'A34', 'A39', 'A40'], { patient: 'merge' }),
]);

const MDM: ReadonlyMap<string, EventRule> = new Map<string, EventRule>([
  ...rules(['T01', 'T02', 'T03', 'T04', 'T07', 'T08'], { patient: 'ensure', document: 'store' }),
  ...rules(['T05', 'T06'], { patient: 'ensure', document: 'append' }),
  ...rules(['T09', 'T10'], { patient: 'ensure', document: 'replace' }),
  ...rules(['T11'], { patient: 'ensure', document: 'cancel' }),
]);

export const MESSAGE_TYPES: ReadonlyMap<string, ReadonlyMap<string, EventRule>> = new Map([
  ['ADT', ADT],
  ['ORU', new Map<string, EventRule>([['R01', { patient: 'ensure' }]])],
  ['MDM', MDM],
]);

/** Versions that are read as 2.5.1: what later ones added at the end of fields and segments is ignored (§2.8.2). */
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
