/** A message through reading and mapping, without a database: what tests of the maps look at. */
import { readBytes } from '../stack/tools/hl7-text.ts';
import { decide } from '../../edge/hl7/ingest/decide.ts';
import type { Found, FoundPatient } from '../../edge/hl7/mapping/drafts.ts';
import type { SenderSettings } from '../../edge/hl7/ingest/sender/settings.ts';
import { KEY_MEMBERS } from '../../edge/members/api-key.ts';
import { newRecord, toRecord } from '../../edge/members/member.ts';
import { knownBy } from '../../edge/store/patient-identity.ts';
import { parseStored } from '../../edge/store/resource.ts';
import { validate } from '../../edge/fhir/validate/validate.ts';
import type { UnmappedName } from '../../edge/store/unmapped-name.ts';
import { RESOURCE_TYPES } from '../../shared/resource-type.ts';
import { parseJson, printJson, type JsonObject } from '../../shared/json.ts';

export const SETTINGS: SenderSettings = {
  ...toRecord(KEY_MEMBERS, newRecord(KEY_MEMBERS).parse({ name: 'Test key', tokenTtlSeconds: 300 })),
  site: '00000000-0000-4000-8000-000000000001',
  clientId: 'svc-00000000-0000-4000-8000-000000000002',
  allowedScopes: new Set(RESOURCE_TYPES.map((type) => `system/${type}.write`)),
  timeZone: 'Europe/Vienna',
  authorities: new Map([['HOSP', 'urn:example:hosp']]),
  taught: new Map(),
  confirmed: new Set(),
  contested: new Map(),
  shared: new Map(),
  rejected: new Set(),
  settingsState: '',
  charset: 'utf-8',
  processingIds: new Set(['P', 'T', 'D']),
  codeSystems: new Map(),
  identifyingTypes: new Set(),
  placeholders: new Set(),
  placeholderBirthDates: new Set(),
  usCore: false,
  codeTables: [],
  hl7_rules: null,
};

/** The circumstances of an ordinary message. */
export const RECEIVED = {
  isControlIdReused: false,
  isCrowded: false,
  isExcessive: false,
  isForced: false,
  codeRows: () => undefined,
  messageId: '019b7ca9-8c88-7000-8000-000000000003',
  requestId: 'request-1',
  source: 'http',
  nowMs: Date.parse('2026-01-02T03:04:05Z'),
  fhirBase: 'https://gateway.example/fhir',
} as const;

export interface Mapped {
  readonly outcome: string;
  /** As text. */
  readonly ack: string;
  /** `W 102 OBX^1^5^1` of each finding. */
  readonly findings: readonly string[];
  readonly resources: readonly JsonObject[];
  readonly unmapped: readonly UnmappedName[];
  /** The FHIR text of the first resource of a type, with decimals as they are stored. */
  readonly json: (type: string) => string;
  /** The first resource of a type; fails when it is not valid FHIR. */
  readonly resource: (type: string) => JsonObject;
  /** Throws for a resource that is not valid FHIR. */
  readonly everyResourceIsValid: () => void;
}

/** @param lines segments after MSH; `header` is added to a usual MSH */
export function mapped(
  type: string,
  lines: readonly string[],
  options: {
    readonly settings?: Partial<SenderSettings>;
    readonly at?: string;
    /** Fields of MSH by their numbers, in the place of the usual ones. */
    readonly header?: Readonly<Record<number, string>>;
    readonly found?: readonly Found[];
  } = {},
): Mapped {
  const usual = [
    '^~\\&',
    'LAB',
    'HOSP',
    'GATEWAY',
    'SITE',
    options.at ?? '20260102030405',
    '',
    type,
    'C1',
    'P',
    '2.5.1',
  ];
  const { header = {} } = options;
  const last = Math.max(12, ...Object.keys(header).map(Number));
  const msh = ['MSH', ...Array.from({ length: last - 1 }, (_, at) => header[at + 2] ?? usual[at] ?? '')].join('|');
  const { outcome, ack, findings, effects } = decide({
    reading: readBytes(new TextEncoder().encode([msh, ...lines].join('\r')), 'utf-8'),
    settings: { ...SETTINGS, ...options.settings },
    found: options.found ?? [],
    patients: patientsOf(options.found ?? []),
    ...RECEIVED,
  });
  const resource = (type: string): JsonObject => {
    const found = effects.resources.find(({ resourceType }) => resourceType === type);
    if (found === undefined) throw new Error(`no ${type}: ${findings.map(({ message }) => message).join('; ')}`);
    assertValid(found);
    return found;
  };
  return {
    outcome,
    ack: new TextDecoder().decode(ack ?? new Uint8Array(0)),
    findings: findings.map(({ severity, code, at }) => `${severity} ${code} ${at}`),
    resources: effects.resources,
    unmapped: effects.unmapped,
    resource,
    everyResourceIsValid: () => effects.resources.forEach(assertValid),
    json: (type) => printJson(resource(type)),
  };
}

/** As if FHIR clients had written them. */
const patientsOf = (found: readonly Found[]): readonly FoundPatient[] =>
  found
    .filter(({ role }) => role === 'patient')
    .map(({ resource }) => ({ id: resource.id, ...knownBy(parseStored(resource)) }));

function assertValid(resource: JsonObject): void {
  const { resourceType } = resource;
  const issues = validate(parseJson(printJson(resource)), typeof resourceType === 'string' ? resourceType : '');
  if (issues.length > 0) throw new Error(`${JSON.stringify(issues)} in ${printJson(resource)}`);
}

/** PID of a usual patient, with fields put over it by their numbers. */
export function pid(fields: Readonly<Record<number, string>> = {}): string {
  const all: Record<number, string> = { 1: '1', 3: '123^^^HOSP^MR', 5: 'Doe^Jane', ...fields };
  const last = Math.max(...Object.keys(all).map(Number));
  return ['PID', ...Array.from({ length: last }, (_, at) => all[at + 1] ?? '')].join('|');
}

/** Any segment by its field numbers. */
export function segment(id: string, fields: Readonly<Record<number, string>>): string {
  const last = Math.max(...Object.keys(fields).map(Number));
  return [id, ...Array.from({ length: last }, (_, at) => fields[at + 1] ?? '')].join('|');
}

export const OBR = segment('OBR', { 1: '1', 3: 'F1', 4: '1^Panel^L', 7: '202601010800', 25: 'F' });
