/**
 * AL1 and IAM as AllergyIntolerance (v2-to-FHIR `AL1[AllergyIntolerance]`, `IAM[AllergyIntolerance]`). Severity is taken
 * as criticality, which is the assessment that both share; AL1-6 and IAM-11 are the onset.
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { Segment } from '../../../shared/hl7/message.ts';
import { repetitions } from '../../../shared/hl7/value.ts';
import type { MapContext } from '../mapping/context.ts';
import { codeOf, concept, mappedConcept, textOfConcept } from '../mapping/datatypes/cwe.ts';
import { entityIdentifier } from '../mapping/datatypes/hd.ts';
import { fieldText, isValued } from '../mapping/datatypes/text.ts';
import { dateTime } from '../mapping/datatypes/time.ts';
import { displayName } from '../mapping/datatypes/xpn.ts';
import { byDefault, contributionsOf, fixed, type Contribution, type FieldMap } from '../mapping/field-map.ts';
import type { ConceptMap } from '../mapping/tables/concept-map.ts';
import {
  ALLERGEN_CATEGORY,
  ALLERGEN_ORIGINAL,
  ALLERGY_CRITICALITY,
  ALLERGY_SEVERITY_ORIGINAL,
  ALLERGY_TYPE,
} from '../mapping/tables/concept-maps.ts';

const ALTERNATE_CODES = 'http://hl7.org/fhir/StructureDefinition/alternate-codes';
const CLINICAL = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical';
const VERIFICATION = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification';

const part = (segment: Segment, field: number) => repetitions(segment, field)[0];
const target = (segment: Segment, field: number, map: ConceptMap) =>
  map.codes.get(codeOf(part(segment, field))?.toUpperCase() ?? '')?.code;

/** The code as it was sent, beside the one of FHIR that it became. */
const original = (field: number, map: ConceptMap) => (segment: Segment, context: MapContext) => {
  const valueCodeableConcept = mappedConcept(part(segment, field), context, map);
  return valueCodeableConcept === undefined ? null : { extension: [{ url: ALTERNATE_CODES, valueCodeableConcept }] };
};

/** The fields that AL1 and IAM share, 2 to 5; `cite` names the rows of each. */
const shared = (cite: Readonly<Record<number, string>>, extra: Readonly<Record<string, string>>): FieldMap[] => [
  {
    field: 2,
    rows: cite[2] ?? '',
    element: 'category',
    map: (segment) => {
      const category = target(segment, 2, ALLERGEN_CATEGORY);
      return category === undefined ? undefined : [category];
    },
  },
  {
    field: 2,
    rows: extra['category'] ?? '',
    element: '_category',
    map: (segment, context) =>
      target(segment, 2, ALLERGEN_CATEGORY) === undefined
        ? undefined
        : [original(2, ALLERGEN_ORIGINAL)(segment, context)],
  },
  { field: 2, rows: extra['type'] ?? '', element: 'type', map: (segment) => target(segment, 2, ALLERGY_TYPE) },
  { field: 3, rows: cite[3] ?? '', element: 'code', map: (segment, context) => concept(segment, 3, context) },
  {
    field: 4,
    rows: cite[4] ?? '',
    element: 'criticality',
    map: (segment) => target(segment, 4, ALLERGY_CRITICALITY) ?? null,
  },
  { field: 4, rows: extra['criticality'] ?? '', element: '_criticality', map: original(4, ALLERGY_SEVERITY_ORIGINAL) },
  {
    field: 5,
    rows: cite[5] ?? '',
    element: 'reaction',
    map: (segment) => {
      const manifestation = repetitions(segment, 5)
        .map(textOfConcept)
        .filter((text) => text !== undefined)
        .map((text) => ({ text }));
      return manifestation.length === 0 ? undefined : [{ manifestation }];
    },
  },
];

const onset = (field: number, rows: string): FieldMap => ({
  field,
  rows,
  element: 'onset[x]',
  map: (segment, context) => {
    const onsetDateTime = dateTime(part(segment, field), context);
    return onsetDateTime === undefined ? undefined : { onsetDateTime };
  },
});

const AL1: readonly FieldMap[] = [
  ...shared(
    {
      2: 'AL1[AllergyIntolerance] 6',
      3: 'AL1[AllergyIntolerance] 10',
      4: 'AL1[AllergyIntolerance] 11',
      5: 'AL1[AllergyIntolerance] 15',
    },
    {
      category: 'AL1[AllergyIntolerance] 7, 8',
      type: 'AL1[AllergyIntolerance] 9',
      criticality: 'AL1[AllergyIntolerance] 12, 13',
    },
  ),
  onset(6, 'AL1[AllergyIntolerance] 16'),
];

const IAM: readonly FieldMap[] = [
  ...shared(
    {
      2: 'IAM[AllergyIntolerance] 6',
      3: 'IAM[AllergyIntolerance] 10',
      4: 'IAM[AllergyIntolerance] 12',
      5: 'IAM[AllergyIntolerance] 15',
    },
    {
      category: 'IAM[AllergyIntolerance] 7, 8',
      type: 'IAM[AllergyIntolerance] 9',
      criticality: 'IAM[AllergyIntolerance] 13, 14',
    },
  ),
  {
    field: 7,
    rows: 'IAM[AllergyIntolerance] 18',
    element: 'identifier',
    map: (segment, context) => {
      const found = entityIdentifier(part(segment, 7), context);
      return found === undefined ? undefined : [found];
    },
  },
  onset(11, 'IAM[AllergyIntolerance] 22'),
  {
    field: 12,
    rows: 'IAM[AllergyIntolerance] 23',
    element: 'onset[x]',
    when: (segment) => !isValued(segment, 11),
    map: (segment) => {
      const onsetString = fieldText(segment, 12);
      return onsetString === undefined ? undefined : { onsetString };
    },
  },
  {
    field: 13,
    rows: 'IAM[AllergyIntolerance] 24',
    element: 'recordedDate',
    map: (segment, context) => dateTime(part(segment, 13), context),
  },
  {
    field: 14,
    rows: 'IAM[AllergyIntolerance] 25',
    element: 'recorder',
    when: (segment) => !isValued(segment, 15),
    map: (segment) => {
      const name = part(segment, 14);
      const display = name === undefined ? undefined : displayName(name);
      return display === undefined ? undefined : { type: 'Practitioner', display };
    },
  },
];

const coding = (system: string, code: string): JsonObject => ({ coding: [{ system, code }] });

interface Status {
  readonly clinical: string | null;
  readonly verification: string;
}

/** IAM-17, table 0438: FHIR keeps apart what it says of the allergy and of the evidence for it. */
const STATUS: ReadonlyMap<string, Status> = new Map<string, Status>([
  ['U', { clinical: 'active', verification: 'unconfirmed' }],
  ['P', { clinical: 'active', verification: 'unconfirmed' }],
  ['S', { clinical: 'active', verification: 'unconfirmed' }],
  ['D', { clinical: 'active', verification: 'unconfirmed' }],
  ['C', { clinical: 'active', verification: 'confirmed' }],
  ['I', { clinical: 'inactive', verification: 'confirmed' }],
  ['E', { clinical: null, verification: 'entered-in-error' }],
]);
/** IAM-6 D: the allergy was deleted at the sender (FHIR R4, ait-2: then no clinical status). */
const DELETED: Status = { clinical: null, verification: 'entered-in-error' };

/** `AL1[AllergyIntolerance]` 3 and 4, `IAM[AllergyIntolerance]` 3, 4 and 30. */
function statusOf(segment: Segment): Contribution[] {
  const action = segment.id === 'IAM' ? codeOf(part(segment, 6)) : undefined;
  const sent = segment.id === 'IAM' ? codeOf(part(segment, 17)) : undefined;
  const status = action === 'D' ? DELETED : STATUS.get(sent?.toUpperCase() ?? '');
  if (status === undefined) return [byDefault('clinicalStatus', coding(CLINICAL, 'active'))];
  return [
    fixed('clinicalStatus', status.clinical === null ? null : coding(CLINICAL, status.clinical)),
    fixed('verificationStatus', coding(VERIFICATION, status.verification)),
  ];
}

/** @param segment AL1 or IAM */
export function allergy(segment: Segment, context: MapContext): Contribution[] {
  return [...statusOf(segment), ...contributionsOf(segment, segment.id === 'AL1' ? AL1 : IAM, context)];
}

export const ALLERGY_TABLES = { AL1, IAM };
