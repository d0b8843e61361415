/**
 * What of a resource is searched, taken out when it is written (spec.md, "Search parameters"). Pure: it trusts that the
 * resource was validated, and skips what has another shape.
 */
import { isJsonObject, type Json, type JsonObject } from '../../shared/json.ts';
import { isUuid } from '../../shared/uuid.ts';
import { fold, spellNames } from './fold.ts';
import type { ResourceType } from '../../shared/resource-type.ts';

/** `[system, value]`; an absent system or value is `''`. */
export type IdentifierRow = readonly [system: string, value: string];
/** `[param, system, code]`; an absent system or code is `''`. */
export type TokenRow = readonly [param: string, system: string, code: string];

export interface PatientSearch {
  /** Every text, given and family, folded and spelt for the index, one a line. */
  readonly names: string;
  /** The first name, folded; `''` without one. */
  readonly nameSort: string;
  /** As sent: `1974`, `1974-12` or `1974-12-25`; `''` when absent. */
  readonly birthDate: string;
  readonly gender: string | null;
}

export interface ReportSearch {
  readonly accession: string | null;
  readonly state: 'draft' | 'completed';
}

export interface SearchRows {
  /** The id in `subject` or `patient`, where it is a Patient of ours. */
  readonly patient: string | null;
  readonly identifiers: readonly IdentifierRow[];
  readonly tokens: readonly TokenRow[];
  readonly search: PatientSearch | null;
  readonly report: ReportSearch | null;
}

/** Where each token parameter looks; FHIRPath of R4's SearchParameters `clinical-code`, `clinical-status`, `type`. */
const TOKEN_PATHS: Readonly<Record<ResourceType, readonly (readonly [param: string, path: string])[]>> = {
  Patient: [],
  Condition: [
    ['clinical-status', 'clinicalStatus'],
    ['code', 'code'],
  ],
  AllergyIntolerance: [
    ['clinical-status', 'clinicalStatus'],
    ['code', 'code'],
    ['code', 'reaction.substance'],
  ],
  Observation: [['code', 'code']],
  Procedure: [['code', 'code']],
  DiagnosticReport: [],
  DocumentReference: [['type', 'type']],
};

/** `status` of a completed report (design decisions §4); any other is a draft. */
const COMPLETED = new Set(['final', 'amended', 'corrected', 'appended']);
/** HL7 table 0203: the identifier is an accession number. */
const ACCESSION = 'ACSN';
/** A sort key is an index key, which PostgreSQL bounds; what is longer sorts by its beginning. */
const MAX_SORT_LENGTH = 200;
const PATIENT_REFERENCE = /^Patient\/([^/]+)(?:\/_history\/[^/]+)?$/;

/** The objects at a dotted path, whether single or in lists. */
function objectsAt(from: JsonObject, path: string): JsonObject[] {
  let found: JsonObject[] = [from];
  for (const name of path.split('.')) {
    found = found.flatMap((object) => [object[name] ?? null].flat()).filter(isJsonObject);
  }
  return found;
}

/** A string that PostgreSQL can hold; a lone surrogate or NUL is no text (FHIR R4, string), so it finds nothing. */
function text(value: Json | undefined): string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0') ? value : '';
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(text).filter((item) => item !== '') : [];
}

/** The id of a relative `Patient/<id>`, with or without a version. */
export function patientIdOf(reference: string): string | undefined {
  return PATIENT_REFERENCE.exec(reference)?.[1];
}

function patientOf(resource: JsonObject): string | null {
  for (const member of ['subject', 'patient']) {
    const reference = objectsAt(resource, member)[0];
    const id = patientIdOf(text(reference?.['reference']));
    if (id !== undefined && isUuid(id)) return id;
  }
  return null;
}

/** A name as it is shown: its text, else family and given in the order in which names are listed. */
function namesOf(resource: JsonObject): PatientSearch {
  const names = objectsAt(resource, 'name').map((name) => ({
    text: text(name['text']),
    family: text(name['family']),
    given: texts(name['given']),
  }));
  const lines = names.flatMap(({ text, family, given }) => [
    text,
    family,
    ...given,
    // A name without a text is found by its parts in a row too.
    ...(text === '' ? [[...given, family].join(' ')] : []),
  ]);
  const folded = new Set(lines.map(fold).filter((line) => line !== ''));
  const first = names[0];
  const shown = first === undefined ? '' : first.text || [first.family, ...first.given].join(' ');
  const birthDate = text(resource['birthDate']);
  return {
    names: [...folded].map(spellNames).join('\n'),
    nameSort: fold(shown).slice(0, MAX_SORT_LENGTH).toWellFormed(),
    birthDate,
    gender: text(resource['gender']) || null,
  };
}

function isAccession(identifier: JsonObject): boolean {
  return objectsAt(identifier, 'type.coding').some((coding) => coding['code'] === ACCESSION);
}

function reportOf(resource: JsonObject): ReportSearch {
  const accession = [...objectsAt(resource, 'identifier'), ...objectsAt(resource, 'basedOn.identifier')]
    .filter(isAccession)
    .map((identifier) => text(identifier['value']))
    .find((value) => value !== '');
  return {
    accession: accession ?? null,
    state: COMPLETED.has(text(resource['status'])) ? 'completed' : 'draft',
  };
}

/** @param resource validated, its references to our own base already relative */
export function searchRows(type: ResourceType, resource: JsonObject): SearchRows {
  const identifiers = [
    ...objectsAt(resource, 'identifier'),
    // The one identifier of DocumentReference that is not in `identifier` but searched with it in R4.
    ...(type === 'DocumentReference' ? objectsAt(resource, 'masterIdentifier') : []),
  ].map((identifier): IdentifierRow => [text(identifier['system']), text(identifier['value'])]);
  const tokens = TOKEN_PATHS[type].flatMap(([param, path]) =>
    objectsAt(resource, `${path}.coding`).map((coding): TokenRow => [
      param,
      text(coding['system']),
      text(coding['code']),
    ]),
  );
  return {
    patient: patientOf(resource),
    identifiers: identifiers.filter(([system, value]) => system !== '' || value !== ''),
    tokens: tokens.filter(([, system, code]) => system !== '' || code !== ''),
    search: type === 'Patient' ? namesOf(resource) : null,
    report: type === 'DiagnosticReport' ? reportOf(resource) : null,
  };
}
