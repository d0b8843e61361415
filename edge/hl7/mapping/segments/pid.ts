/** PID as Patient (v2-to-FHIR `PID[Patient]`). */
import { repetitions } from '../../../../shared/hl7/value.ts';
import { quietly } from '../context.ts';
import { mappedConcept, textOfConcept } from '../datatypes/cwe.ts';
import { driversLicense, identifier } from '../datatypes/cx.ts';
import { identifierType, isTooLong } from '../datatypes/hd.ts';
import { fieldText, first, isValued, textOf, repetitionText, listOf, members } from '../datatypes/text.ts';
import { date, dateTime, isDate } from '../datatypes/time.ts';
import { displayName, humanNames } from '../datatypes/xpn.ts';
import { contactPoint } from '../datatypes/xtn.ts';
import { each, type FieldMap, one } from '../field-map.ts';
import { MARITAL_STATUS, RELIGION } from '../tables/concept-maps.ts';
import { addresses, animal, birthOrder, coded, hasType, hasUse, language, sex, yesNo } from './pid-values.ts';
import { firstOne, type PatientSegment } from './rule.ts';
import { US_CORE_FIELDS } from './us-core.ts';

const STRUCTURE = 'http://hl7.org/fhir/StructureDefinition';
const US_SSN = 'http://hl7.org/fhir/sid/us-ssn';

const FIELDS: readonly FieldMap[] = [
  { field: 3, rows: '5', element: 'identifier', keeps: true, map: each(3, identifier) },
  { field: 2, rows: '4', element: 'identifier', keeps: true, map: each(2, identifier), owns: () => false },
  { field: 4, rows: '6', element: 'identifier', keeps: true, map: each(4, identifier), owns: () => false },
  {
    field: 19,
    rows: '30, 31, 33, 34',
    element: 'identifier',
    owns: hasType('SS'),
    map: one(19, (part, context) => {
      const value = textOf(part, 1);
      if (value === undefined || isTooLong(value, part, context)) return undefined;
      return [{ type: identifierType('SS'), system: US_SSN, value }];
    }),
  },
  { field: 20, rows: '35', element: 'identifier', owns: hasType('DL'), map: each(20, driversLicense) },
  {
    field: 5,
    rows: '7',
    element: 'name',
    map: (segment, context) => repetitions(segment, 5).flatMap((part) => humanNames(part, context)),
  },
  {
    field: 9,
    rows: '14',
    element: 'name',
    owns: () => false,
    // PID-9 was withdrawn because aliases belong into PID-5: a name without a type is not the person's usual one.
    map: (segment, context) =>
      repetitions(segment, 9)
        .flatMap((part) => humanNames(part, context))
        .map((name) => ({ use: 'nickname', ...name })),
  },
  {
    field: 6,
    rows: '8, 9',
    element: `extension ${STRUCTURE}/patient-mothersMaidenName`,
    map: one(6, (part) => members({ valueString: displayName(part) })),
  },
  {
    field: 7,
    rows: '10',
    element: 'birthDate',
    map: (segment, context) => date(first(segment, 7), context),
  },
  {
    field: 7,
    rows: '11, 12',
    element: '_birthDate',
    map: (segment, context) => {
      const sent = fieldText(segment, 7) ?? '';
      // An invalid date does not change the stored day.
      if (date(first(segment, 7), quietly(context)) === undefined) return undefined;
      const valueDateTime = sent.length > 8 ? dateTime(first(segment, 7), quietly(context)) : undefined;
      // A time without a known offset adds nothing to birthDate. Null: the stored one belongs to another day.
      if (!valueDateTime?.includes('T')) return null;
      return { extension: [{ url: `${STRUCTURE}/patient-birthTime`, valueDateTime }] };
    },
  },
  { field: 8, rows: '13', element: 'gender', map: sex },
  { field: 11, rows: '16, 17, 18, 19', element: 'address', map: addresses },
  {
    field: 12,
    rows: '20',
    element: 'address',
    owns: () => false,
    when: (segment) => !isValued(segment, 11),
    map: (segment) => listOf(members({ district: fieldText(segment, 12) })),
  },
  {
    field: 13,
    rows: '21, 22',
    element: 'telecom',
    owns: hasUse('home'),
    map: each(13, (part, context) => contactPoint(part, context, 'home')),
  },
  {
    field: 14,
    rows: '23, 24',
    element: 'telecom',
    owns: hasUse('work'),
    map: each(14, (part, context) => contactPoint(part, context, 'work')),
  },
  {
    field: 40,
    rows: '66',
    element: 'telecom',
    owns: () => false,
    map: each(40, (part, context) => contactPoint(part, context)),
  },
  { field: 15, rows: '25', element: 'communication', map: language },
  {
    field: 16,
    rows: '26',
    element: 'maritalStatus',
    map: (segment, context) => mappedConcept(first(segment, 16), context, MARITAL_STATUS),
  },
  {
    field: 17,
    rows: '27, 28',
    element: `extension ${STRUCTURE}/patient-religion`,
    map: (segment, context) => members({ valueCodeableConcept: mappedConcept(first(segment, 17), context, RELIGION) }),
  },
  {
    field: 23,
    rows: '38, 39',
    element: `extension ${STRUCTURE}/patient-birthPlace`,
    map: one(23, (part) => members({ valueAddress: members({ text: repetitionText(part) ?? textOfConcept(part) }) })),
  },
  {
    field: 24,
    rows: '40',
    element: 'multipleBirth[x]',
    when: (segment) => !isValued(segment, 25),
    map: (segment, context) => members({ multipleBirthBoolean: yesNo(segment, 24, context) }),
  },
  { field: 25, rows: '41', element: 'multipleBirth[x]', map: birthOrder },
  {
    field: 26,
    rows: '42, 43, 44',
    element: `extension ${STRUCTURE}/patient-citizenship`,
    map: (segment, context) => {
      const all = [...(coded(26)(segment, context) ?? []), ...(coded(39)(segment, context) ?? [])];
      return all.length === 0 ? undefined : all;
    },
  },
  {
    field: 39,
    rows: '63, 64, 65',
    element: `extension ${STRUCTURE}/patient-citizenship`,
    when: (segment) => !isValued(segment, 26),
    map: coded(39),
  },
  {
    field: 28,
    rows: '46, 47, 48',
    element: `extension ${STRUCTURE}/patient-nationality`,
    map: coded(28),
  },
  {
    field: 29,
    rows: '49',
    element: 'deceased[x]',
    map: (segment, context) => members({ deceasedDateTime: dateTime(first(segment, 29), context) }),
  },
  {
    field: 30,
    rows: '50',
    element: 'deceased[x]',
    // A death with an unreadable time is still a death.
    when: (segment) => !isDate(first(segment, 29)),
    map: (segment, context) => members({ deceasedBoolean: yesNo(segment, 30, context) }),
  },
  {
    field: 35,
    rows: '55, 56, 57, 58, 59, 60',
    element: `extension ${STRUCTURE}/patient-animal`,
    map: animal,
  },
  ...US_CORE_FIELDS,
];

export const PID: PatientSegment = {
  name: 'PID',
  contributions: firstOne(FIELDS),
  source: 'PID[Patient]',
  fields: FIELDS,
};
