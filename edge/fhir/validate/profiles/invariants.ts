/** The invariants of US Core's profiles, and of the profile of vital signs of R4 that they include. Written by hand from their FHIRPath. */
import { isJsonObject, type Json, type JsonObject, objectsOf } from '../../../../shared/json.ts';
import { has, hasChoice, implies, UCUM } from '../elements.ts';
import { SYSTEMS } from './us-core.ts';

export interface ProfileInvariant {
  readonly id: string;
  readonly message: string;
  readonly holds: (value: Json) => boolean;
}

const ABSENT = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason';
const REPORTED = ['partial', 'preliminary', 'final', 'amended', 'corrected', 'appended'];
/** The least characters of a date with its day, `2024-01-31`. */
const DAY = 10;
/** The parents of the detailed codes of race and ethnicity (OMB). */
const OMB = ['1002-5', '2028-9', '2054-5', '2076-8', '2106-3', '2135-2', '2186-5'];

const isOneOf = (value: Json | undefined, codes: readonly string[]): boolean =>
  typeof value === 'string' && codes.includes(value);
const hasValue = (e: JsonObject): boolean => hasChoice(e, 'value') || has(e, 'dataAbsentReason');
const resultOrParts = (e: JsonObject): boolean => has(e, 'component') || has(e, 'hasMember') || hasValue(e);
const effectiveIfReported = (e: JsonObject): boolean =>
  implies(isOneOf(e['status'], REPORTED), hasChoice(e, 'effective'));
const hasDay = (value: Json): boolean => typeof value !== 'string' || value.length >= DAY;

const NO_RESULT = 'without component and hasMember, a value or a dataAbsentReason is required';
const TO_THE_DAY = 'a dateTime needs at least the day';
const NO_EFFECTIVE = `effective is required if the status is one of ${REPORTED.join(', ')}`;

const isNamed = (name: JsonObject): boolean => has(name, 'family') || has(name, 'given');
const isAbsent = (e: JsonObject): boolean => objectsOf(e['extension']).some(({ url }) => url === ABSENT);

/** For objects; the validator reports other values. */
type Rule = readonly [key: string, message: string, holds: (element: JsonObject) => boolean];

const OF_OBJECTS: readonly Rule[] = [
  ['us-core-2', NO_RESULT, resultOrParts],
  ['vs-2', NO_RESULT, resultOrParts],
  ['vs-3', 'a value or a dataAbsentReason is required', hasValue],
  ['us-core-3', `a Quantity with a system needs ${UCUM}`, (e) => e['system'] === undefined || e['system'] === UCUM],
  [
    'us-core-6',
    'a name needs family or given, or the extension data-absent-reason in place of both',
    // Up to 6.1 for all names together, with the extension in the Patient; since 7.0 for each name, with the extension there.
    (e) =>
      objectsOf(e['name']).some(isNamed) !== isAbsent(e) ||
      objectsOf(e['name']).every((name) => isNamed(name) !== isAbsent(name)),
  ],
  ['us-core-6-attachment', 'an attachment needs url or data', (e) => has(e, 'url') || has(e, 'data')],
  [
    'us-core-7',
    'performed is required if the status is completed or in-progress',
    (e) => implies(isOneOf(e['status'], ['completed', 'in-progress']), hasChoice(e, 'performed')),
  ],
  ['us-core-8', NO_EFFECTIVE, effectiveIfReported],
  [
    'us-core-9',
    `issued is required if the status is one of ${REPORTED.join(', ')}`,
    (e) => implies(isOneOf(e['status'], REPORTED), has(e, 'issued')),
  ],
  ['us-core-10', NO_EFFECTIVE, effectiveIfReported],
  [
    // The required binding to detailed codes has 900 of them: the form of the code is checked.
    'cdc-race',
    'must be a detailed code of race and ethnicity (CDC)',
    ({ system, code }) =>
      system === SYSTEMS['race'] && typeof code === 'string' && /^[12]\d{3}-\d$/.test(code) && !OMB.includes(code),
  ],
];

const OF_DATES: readonly [key: string, message: string][] = [
  ['us-core-1', TO_THE_DAY],
  ['vs-1', TO_THE_DAY],
];

/** By key; the id in a message is the one of US Core. */
export const PROFILE_INVARIANTS: Readonly<Record<string, ProfileInvariant>> = Object.fromEntries([
  ...OF_OBJECTS.map(([key, message, holds]) => {
    const id = key === 'us-core-6-attachment' ? 'us-core-6' : key;
    return [key, { id, message, holds: (value: Json) => !isJsonObject(value) || holds(value) }] as const;
  }),
  ...OF_DATES.map(([key, message]) => [key, { id: key, message, holds: hasDay }] as const),
]);
