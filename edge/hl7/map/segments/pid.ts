/** PID as Patient (v2-to-FHIR `PID[Patient]`). What is left of it stands in `left-out.ts`. */
import type { Json, JsonObject } from '../../../../shared/json.ts';
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locate, repetitions, type Part } from '../../../../shared/hl7/value.ts';
import { note, type MapContext } from '../context.ts';
import { driversLicense, identifier } from '../datatypes/cx.ts';
import { codeOf, concept, concepts, mappedConcept, textOfConcept } from '../datatypes/cwe.ts';
import { identifierType } from '../datatypes/hd.ts';
import { fieldText, isValued, textOf, wholeText } from '../datatypes/text.ts';
import { date, dateTime } from '../datatypes/time.ts';
import { address } from '../datatypes/xad.ts';
import { displayName, humanNames } from '../datatypes/xpn.ts';
import { contactPoint } from '../datatypes/xtn.ts';
import type { FieldMap } from '../field-map.ts';
import { ADMINISTRATIVE_SEX, MARITAL_STATUS, RELIGION, YES_NO } from '../tables/concept-maps.ts';

const STRUCTURE = 'http://hl7.org/fhir/StructureDefinition';
const US_SSN = 'http://hl7.org/fhir/sid/us-ssn';

type PartMap = (part: Part, context: MapContext) => JsonObject | undefined;

const each = (field: number, map: PartMap) => (segment: Segment, context: MapContext) =>
  repetitions(segment, field)
    .map((part) => map(part, context))
    .filter((found) => found !== undefined);

const first = (segment: Segment, field: number): Part | undefined => repetitions(segment, field)[0];

const hasType = (type: string) => (item: JsonObject) => JSON.stringify(item['type'] ?? '').includes(`"${type}"`);
const hasUse = (use: string) => (item: JsonObject) => item['use'] === use;
const owned = (segment: Segment, field: number, context: MapContext, map: PartMap): Json[] =>
  each(field, map)(segment, context);

/**
 * The repetition of PID-3 or MRG-1 that identifies the patient: the one of type MR, else the first with a value
 * (design decisions §5, identity).
 */
export function identifyingPart(segment: Segment, field: number): Part | undefined {
  const valued = repetitions(segment, field).filter((part) => textOf(part, 1) !== undefined);
  return valued.find((part) => textOf(part, 5) === 'MR') ?? valued[0];
}

/** PID-3 with the identifying one first: it is the business identifier of the patient. */
function patientIdentifiers(segment: Segment, context: MapContext): Json[] {
  const leading = identifyingPart(segment, 3);
  const parts = repetitions(segment, 3);
  const ordered = leading === undefined ? parts : [leading, ...parts.filter((part) => part.raw !== leading.raw)];
  return ordered.map((part) => identifier(part, context)).filter((found) => found !== undefined);
}

function sex(segment: Segment, context: MapContext): Json | undefined {
  const sent = codeOf(first(segment, 8));
  const gender = ADMINISTRATIVE_SEX.codes.get(sent?.toUpperCase() ?? '')?.code;
  if (sent !== undefined && gender === undefined) {
    note(
      context,
      'W',
      '103',
      locate(segment, 8),
      'PID-8 is not a code of table 0001 and was not mapped',
      'unknown-code',
    );
  }
  return gender;
}

function yesNo(segment: Segment, field: number, context: MapContext): boolean | undefined {
  const sent = fieldText(segment, field);
  const mapped = YES_NO.codes.get(sent?.toUpperCase() ?? '')?.code;
  if (sent !== undefined && mapped === undefined) {
    const message = `PID-${field} is not a code of table 0136 and was not mapped`;
    note(context, 'W', '103', locate(segment, field), message, 'unknown-code');
  }
  return mapped === undefined ? undefined : mapped === 'true';
}

function birthOrder(segment: Segment, context: MapContext): Json | undefined {
  const sent = fieldText(segment, 25);
  if (sent !== undefined && /^\d{1,3}$/.test(sent)) return { multipleBirthInteger: Number(sent) };
  note(context, 'W', '102', locate(segment, 25), 'PID-25 is not a number and was not mapped', 'not-a-number');
  return undefined;
}

/** Rows 17 to 20: the county belongs to the one address that has none, else it is an address of its own. */
function addresses(segment: Segment, context: MapContext): Json[] {
  const found = owned(segment, 11, context, address).filter((item): item is JsonObject => item !== null);
  const district = fieldText(segment, 12);
  const [only] = found;
  if (district === undefined || only?.['district'] === district) return found;
  if (found.length === 1 && only !== undefined && only['district'] === undefined) return [{ ...only, district }];
  return [...found, { district }];
}

function language(segment: Segment, context: MapContext): Json | undefined {
  const found = concept(segment, 15, context);
  if (found === undefined) return undefined;
  // Row 25: a code without a system that looks like one of BCP 47 is one.
  const coding = [found['coding'] ?? []].flat().map((item) => {
    const isTag = typeof item === 'object' && item !== null && 'code' in item && !('system' in item);
    const tag = isTag ? item['code'] : undefined;
    return typeof tag === 'string' && /^[a-z]{2}(-[A-Z]{2})?$/.test(tag)
      ? { ...(item as JsonObject), system: 'urn:ietf:bcp:47' }
      : item;
  });
  return [{ language: coding.length === 0 ? found : { ...found, coding } }];
}

/** An extension that holds a `code` extension: citizenship, nationality (rows 42–44, 46–48, 63–65). */
const coded = (field: number) => (segment: Segment, context: MapContext) => {
  const found = concepts(segment, field, context);
  return found.length === 0
    ? undefined
    : found.map((valueCodeableConcept) => ({ extension: [{ url: 'code', valueCodeableConcept }] }));
};

function animal(segment: Segment, context: MapContext): Json | undefined {
  const species = concept(segment, 35, context);
  if (species === undefined) return undefined;
  const breed = concept(segment, 36, context);
  return {
    extension: [
      { url: 'species', valueCodeableConcept: species },
      ...(breed === undefined ? [] : [{ url: 'breed', valueCodeableConcept: breed }]),
    ],
  };
}

export const PID: readonly FieldMap[] = [
  { field: 3, rows: 'PID[Patient] 5', element: 'identifier', keeps: true, map: patientIdentifiers },
  { field: 2, rows: 'PID[Patient] 4', element: 'identifier', keeps: true, map: each(2, identifier), owns: () => false },
  { field: 4, rows: 'PID[Patient] 6', element: 'identifier', keeps: true, map: each(4, identifier), owns: () => false },
  {
    field: 19,
    rows: 'PID[Patient] 30, 31, 33, 34',
    element: 'identifier',
    owns: hasType('SS'),
    map: (segment) => {
      const value = fieldText(segment, 19);
      return value === undefined ? undefined : [{ type: identifierType('SS'), system: US_SSN, value }];
    },
  },
  { field: 20, rows: 'PID[Patient] 35', element: 'identifier', owns: hasType('DL'), map: each(20, driversLicense) },
  {
    field: 5,
    rows: 'PID[Patient] 7',
    element: 'name',
    map: (segment, context) => repetitions(segment, 5).flatMap((part) => humanNames(part, context)),
  },
  {
    field: 9,
    rows: 'PID[Patient] 14',
    element: 'name',
    owns: () => false,
    // PID-9 was withdrawn because aliases go into PID-5: a name without a type is not the person's usual one.
    map: (segment, context) =>
      repetitions(segment, 9)
        .flatMap((part) => humanNames(part, context))
        .map((name) => ({ use: 'nickname', ...name })),
  },
  {
    field: 6,
    rows: 'PID[Patient] 8, 9',
    element: `extension ${STRUCTURE}/patient-mothersMaidenName`,
    map: (segment) => {
      const part = first(segment, 6);
      const valueString = part === undefined ? undefined : displayName(part);
      return valueString === undefined ? undefined : { valueString };
    },
  },
  {
    field: 7,
    rows: 'PID[Patient] 10',
    element: 'birthDate',
    map: (segment, context) => date(first(segment, 7), context),
  },
  {
    field: 7,
    rows: 'PID[Patient] 11, 12',
    element: '_birthDate',
    map: (segment, context) => {
      const sent = fieldText(segment, 7) ?? '';
      const quiet: MapContext = { ...context, report: () => undefined };
      const valueDateTime = sent.length > 8 ? dateTime(first(segment, 7), quiet) : undefined;
      // Without a time of a known offset it says nothing that birthDate does not. Null: what was stored is of another day.
      if (!valueDateTime?.includes('T')) return null;
      return { extension: [{ url: `${STRUCTURE}/patient-birthTime`, valueDateTime }] };
    },
  },
  { field: 8, rows: 'PID[Patient] 13', element: 'gender', map: sex },
  { field: 11, rows: 'PID[Patient] 16, 17, 18, 19', element: 'address', map: addresses },
  {
    field: 12,
    rows: 'PID[Patient] 20',
    element: 'address',
    owns: () => false,
    when: (segment) => !isValued(segment, 11),
    map: (segment) => {
      const district = fieldText(segment, 12);
      return district === undefined ? undefined : [{ district }];
    },
  },
  {
    field: 13,
    rows: 'PID[Patient] 21, 22',
    element: 'telecom',
    owns: hasUse('home'),
    map: (segment, context) => each(13, (part) => contactPoint(part, context, 'home'))(segment, context),
  },
  {
    field: 14,
    rows: 'PID[Patient] 23, 24',
    element: 'telecom',
    owns: hasUse('work'),
    map: (segment, context) => each(14, (part) => contactPoint(part, context, 'work'))(segment, context),
  },
  {
    field: 40,
    rows: 'PID[Patient] 66',
    element: 'telecom',
    owns: () => false,
    map: (segment, context) => each(40, (part) => contactPoint(part, context))(segment, context),
  },
  { field: 15, rows: 'PID[Patient] 25', element: 'communication', map: language },
  {
    field: 16,
    rows: 'PID[Patient] 26',
    element: 'maritalStatus',
    map: (segment, context) => mappedConcept(first(segment, 16), context, MARITAL_STATUS),
  },
  {
    field: 17,
    rows: 'PID[Patient] 27, 28',
    element: `extension ${STRUCTURE}/patient-religion`,
    map: (segment, context) => {
      const valueCodeableConcept = mappedConcept(first(segment, 17), context, RELIGION);
      return valueCodeableConcept === undefined ? undefined : { valueCodeableConcept };
    },
  },
  {
    field: 23,
    rows: 'PID[Patient] 38, 39',
    element: `extension ${STRUCTURE}/patient-birthPlace`,
    map: (segment) => {
      const part = first(segment, 23);
      const text = part === undefined ? undefined : (wholeText(part) ?? textOfConcept(part));
      return text === undefined ? undefined : { valueAddress: { text } };
    },
  },
  {
    field: 24,
    rows: 'PID[Patient] 40',
    element: 'multipleBirth[x]',
    when: (segment) => !isValued(segment, 25),
    map: (segment, context) => {
      const multipleBirthBoolean = yesNo(segment, 24, context);
      return multipleBirthBoolean === undefined ? undefined : { multipleBirthBoolean };
    },
  },
  { field: 25, rows: 'PID[Patient] 41', element: 'multipleBirth[x]', map: birthOrder },
  {
    field: 26,
    rows: 'PID[Patient] 42, 43, 44',
    element: `extension ${STRUCTURE}/patient-citizenship`,
    map: (segment, context) => {
      const all = [...(coded(26)(segment, context) ?? []), ...(coded(39)(segment, context) ?? [])];
      return all.length === 0 ? undefined : all;
    },
  },
  {
    field: 39,
    rows: 'PID[Patient] 63, 64, 65',
    element: `extension ${STRUCTURE}/patient-citizenship`,
    when: (segment) => !isValued(segment, 26),
    map: coded(39),
  },
  {
    field: 28,
    rows: 'PID[Patient] 46, 47, 48',
    element: `extension ${STRUCTURE}/patient-nationality`,
    map: coded(28),
  },
  {
    field: 29,
    rows: 'PID[Patient] 49',
    element: 'deceased[x]',
    map: (segment, context) => {
      const deceasedDateTime = dateTime(first(segment, 29), context);
      return deceasedDateTime === undefined ? undefined : { deceasedDateTime };
    },
  },
  {
    field: 30,
    rows: 'PID[Patient] 50',
    element: 'deceased[x]',
    when: (segment) => !isValued(segment, 29),
    map: (segment, context) => {
      const deceasedBoolean = yesNo(segment, 30, context);
      return deceasedBoolean === undefined ? undefined : { deceasedBoolean };
    },
  },
  {
    field: 35,
    rows: 'PID[Patient] 55, 56, 57, 58, 59, 60',
    element: `extension ${STRUCTURE}/patient-animal`,
    map: animal,
  },
];
