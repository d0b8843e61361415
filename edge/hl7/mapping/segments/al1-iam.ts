/**
 * AL1 and IAM as AllergyIntolerance (v2-to-FHIR `AL1[AllergyIntolerance]`, `IAM[AllergyIntolerance]`). Severity becomes
 * criticality, the assessment that both segments share. AL1-6 and IAM-11 are the onset.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { repetitions } from '../../../../shared/hl7/value.ts';
import { nameKey } from '../../../store/patient-identity.ts';
import { noteUnknownCode, type MapContext } from '../context.ts';
import { codeOf, concept, conceptOf, mappedConcept, sentAs, textOfConcept } from '../datatypes/cwe.ts';
import { entityIdentifier } from '../datatypes/hd.ts';
import { fieldText, first, isValued, textOf, listOf, members } from '../datatypes/text.ts';
import { dateTime } from '../datatypes/time.ts';
import { displayName } from '../datatypes/xpn.ts';
import { type FieldMap, one } from '../field-map.ts';
import { byDefault, fixed, type Contribution } from '../../precedence/contribution.ts';
import { conceptKey, join, numberKey } from '../key.ts';
import { contradictedKeys, excludedBy, exclusionKey } from '../no-known-allergy.ts';
import type { ConceptMap } from '../tables/concept-map.ts';
import {
  ALLERGEN_CATEGORY,
  ALLERGEN_ORIGINAL,
  ALLERGY_CRITICALITY,
  ALLERGY_SEVERITY_ORIGINAL,
  ALLERGY_TYPE,
} from '../tables/concept-maps.ts';
import type { ResourceSegment } from './rule.ts';

const CLINICAL = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical';
const VERIFICATION = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-verification';

const target = (segment: Segment, field: number, map: ConceptMap) =>
  map.codes.get(codeOf(first(segment, field))?.toUpperCase() ?? '')?.code;

/** The code as sent, beside its FHIR code. */
const original = (field: number, map: ConceptMap) => (segment: Segment, context: MapContext) => {
  const sent = mappedConcept(first(segment, field), context, map);
  return sent === undefined ? null : sentAs(sent);
};

/** The guide's rows of a field whose number differs between the two maps. */
interface SeverityRows {
  readonly criticality: string;
  readonly original: string;
}

/** The fields that AL1 and IAM share, 2 to 5. */
const shared = (severity: SeverityRows): FieldMap[] => [
  {
    field: 2,
    rows: '6',
    element: 'category',
    map: (segment, context) => {
      const sent = codeOf(first(segment, 2))?.toUpperCase();
      if (sent !== undefined && !ALLERGEN_ORIGINAL.codes.has(sent)) noteUnknownCode(segment, 2, 'table 0127', context);
      return listOf(target(segment, 2, ALLERGEN_CATEGORY));
    },
  },
  {
    field: 2,
    rows: '7, 8',
    element: '_category',
    map: (segment, context) =>
      target(segment, 2, ALLERGEN_CATEGORY) === undefined
        ? undefined
        : [original(2, ALLERGEN_ORIGINAL)(segment, context)],
  },
  { field: 2, rows: '9', element: 'type', map: (segment) => target(segment, 2, ALLERGY_TYPE) },
  { field: 3, rows: '10', element: 'code', map: (segment, context) => concept(segment, 3, context) },
  {
    field: 4,
    rows: severity.criticality,
    element: 'criticality',
    map: (segment) => target(segment, 4, ALLERGY_CRITICALITY) ?? null,
  },
  { field: 4, rows: severity.original, element: '_criticality', map: original(4, ALLERGY_SEVERITY_ORIGINAL) },
  {
    field: 5,
    rows: '15',
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
  map: (segment, context) => members({ onsetDateTime: dateTime(first(segment, field), context) }),
});

const AL1_FIELDS: readonly FieldMap[] = [...shared({ criticality: '11', original: '12, 13' }), onset(6, '16')];

const IAM_FIELDS: readonly FieldMap[] = [
  ...shared({ criticality: '12', original: '13, 14' }),
  {
    field: 7,
    rows: '18',
    element: 'identifier',
    map: (segment, context) => listOf(entityIdentifier(first(segment, 7), context)),
  },
  onset(11, '22'),
  {
    field: 12,
    rows: '23',
    element: 'onset[x]',
    when: (segment) => !isValued(segment, 11),
    map: (segment) => members({ onsetString: fieldText(segment, 12) }),
  },
  {
    field: 13,
    rows: '24',
    element: 'recordedDate',
    map: (segment, context) => dateTime(first(segment, 13), context),
  },
  {
    field: 14,
    rows: '25',
    element: 'recorder',
    when: (segment) => !isValued(segment, 15),
    map: one(14, (part) => {
      const display = displayName(part);
      return display === undefined ? undefined : { type: 'Practitioner', display };
    }),
  },
];

interface Status {
  readonly clinical: string | null;
  readonly verification: string;
}

/** IAM-17, table 0438: FHIR separates the state of the allergy from the evidence for it. */
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

const saysOf = ({ clinical, verification }: Status): Contribution[] => [
  fixed('clinicalStatus', clinical === null ? null : conceptOf(CLINICAL, clinical)),
  fixed('verificationStatus', conceptOf(VERIFICATION, verification)),
];

/** An AllergyIntolerance that was entered in error. */
export const ALLERGY_IN_ERROR: readonly Contribution[] = saysOf(DELETED);

/** `AL1[AllergyIntolerance]` 3 and 4, `IAM[AllergyIntolerance]` 3, 4 and 30. */
function statusOf(segment: Segment, context: MapContext): Contribution[] {
  const action = segment.id === 'IAM' ? codeOf(first(segment, 6)) : undefined;
  const sent = segment.id === 'IAM' ? codeOf(first(segment, 17)) : undefined;
  const status = action === 'D' ? DELETED : STATUS.get(sent?.toUpperCase() ?? '');
  if (status === undefined && sent !== undefined) noteUnknownCode(segment, 17, 'table 0438', context);
  const active = conceptOf(CLINICAL, 'active');
  // "No known allergies" is active again if it is stated after an allergy.
  if (status === undefined && excludedBy(segment) !== undefined) return [fixed('clinicalStatus', active)];
  if (status === undefined) return [byDefault('clinicalStatus', active)];
  return saysOf(status);
}

/** IAM-7, else the allergen with its system: AL1 and IAM of one allergen are one allergy. */
function key(segment: Segment, sender: string): string {
  const id = segment.id === 'IAM' ? first(segment, 7) : undefined;
  if (textOf(id, 1) !== undefined) return join('id', ...numberKey(id, sender));
  const excluded = excludedBy(segment);
  if (excluded !== undefined) return exclusionKey(excluded);
  const [allergen, system] = conceptKey(first(segment, 3));
  return join(allergen, ...(system === undefined ? [] : [nameKey(system)]));
}

const ALLERGY = {
  type: 'AllergyIntolerance',
  subject: 'patient',
  scope: 'system/AllergyIntolerance.write',
  key,
  refersTo: (segment: Segment) => (excludedBy(segment) === undefined ? contradictedKeys(segment) : []),
  general: statusOf,
} as const;

export const AL1: ResourceSegment = {
  ...ALLERGY,
  name: 'AL1',
  requiresOneOf: [3],
  source: 'AL1[AllergyIntolerance]',
  fields: AL1_FIELDS,
};

export const IAM: ResourceSegment = {
  ...ALLERGY,
  name: 'IAM',
  requiresOneOf: [3, 7],
  source: 'IAM[AllergyIntolerance]',
  fields: IAM_FIELDS,
};
