/** PR1 as Procedure (v2-to-FHIR `PR1[Procedure]`). */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locate, rawAt, repetitions } from '../../../../shared/hl7/value.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../shared/json.ts';
import { note, type MapContext } from '../context.ts';
import { codeOf, concept, concepts } from '../datatypes/cwe.ts';
import { entityIdentifier } from '../datatypes/hd.ts';
import { entity, practitioner } from '../datatypes/party.ts';
import { fieldText, first, isValued, members, plainFieldText, textOf, listOf } from '../datatypes/text.ts';
import { dateTime, minutesAfter } from '../datatypes/time.ts';
import { type FieldMap, one } from '../field-map.ts';
import { byDefault, fixed, type Contribution } from '../../precedence/contribution.ts';
import { conceptKey, join, numberKey } from '../key.ts';
import { actionOf } from './action-code.ts';
import type { ResourceSegment } from './rule.ts';

const SNOMED = 'http://snomed.info/sct';

/** Rows 6, 7 and 26: the code, with its modifiers after colons as CPT writes them, and the description. */
function procedureCode(segment: Segment, context: MapContext): JsonObject | undefined {
  const code = concept(segment, 3, context);
  const modifiers = repetitions(segment, 16)
    .map(codeOf)
    .filter((modifier) => modifier !== undefined);
  const coding = [code?.['coding'] ?? []].flat().map((item, at): Json => {
    if (at > 0 || modifiers.length === 0 || !isJsonObject(item) || typeof item['code'] !== 'string') return item;
    return { ...item, code: [item['code'], ...modifiers].join(':') };
  });
  return members({ coding, text: code?.['text'] ?? plainFieldText(segment, 4) });
}

/** Rows 8 to 12: with PR1-7 minutes, and a time of day in PR1-5, a period. */
function performed(segment: Segment, context: MapContext): JsonObject | undefined {
  const start = dateTime(first(segment, 5), context);
  if (start === undefined) return undefined;
  const minutes = fieldText(segment, 7);
  if (minutes === undefined) return { performedDateTime: start };
  if (!/^\d{1,6}(\.\d+)?$/.test(minutes)) {
    note(
      context,
      'W',
      '102',
      locate(segment, 7),
      'PR1-7 is not a number of minutes and was not mapped',
      'not-a-number',
    );
    return { performedDateTime: start };
  }
  const end = minutesAfter(start, Number(minutes));
  return end === undefined ? { performedDateTime: start } : { performedPeriod: { start, end } };
}

/** Rows 14 to 16 and 19 to 22. */
const PERFORMERS: readonly (readonly [field: number, snomed: string | undefined])[] = [
  [8, '88189002'],
  [11, '304292004'],
  [12, undefined],
];

function performers(segment: Segment, context: MapContext): Json | undefined {
  const found = PERFORMERS.flatMap(([field, snomed]) =>
    repetitions(segment, field).flatMap((part) => {
      const actor = practitioner(part, context);
      if (actor === undefined) return [];
      return [{ ...(snomed !== undefined && { function: { coding: [{ system: SNOMED, code: snomed }] } }), actor }];
    }),
  );
  return found.length === 0 ? undefined : found;
}

const FIELDS: readonly FieldMap[] = [
  { field: 3, rows: '6, 7, 26', element: 'code', map: procedureCode },
  {
    field: 4,
    rows: '7',
    element: 'code',
    when: (segment) => !isValued(segment, 3),
    map: procedureCode,
  },
  { field: 5, rows: '8, 9, 10, 12', element: 'performed[x]', map: performed },
  { field: 6, rows: '11', element: 'category', map: (segment, context) => concept(segment, 6, context) },
  { field: 8, rows: '14, 15, 16', element: 'performer', map: performers },
  {
    field: 11,
    rows: '19, 20, 21',
    element: 'performer',
    when: (segment) => !isValued(segment, 8),
    map: performers,
  },
  {
    field: 12,
    rows: '22',
    element: 'performer',
    when: (segment) => !isValued(segment, 8) && !isValued(segment, 11),
    map: performers,
  },
  {
    field: 15,
    rows: '25',
    element: 'reasonCode',
    map: (segment, context) => concepts(segment, 15, context),
  },
  {
    field: 19,
    rows: '29',
    element: 'identifier',
    map: (segment, context) => listOf(entityIdentifier(first(segment, 19), context)),
  },
  {
    field: 23,
    rows: '33',
    element: 'location',
    map: (segment) => {
      // PL: point of care, room, bed, facility. The gateway stores no Location.
      const part = first(segment, 23);
      const display = [1, 2, 3, 4]
        .map((number) => textOf(part, number))
        .filter(Boolean)
        .join(' ');
      return display === '' ? undefined : { type: 'Location', display };
    },
  },
  {
    field: 25,
    rows: '35',
    element: 'partOf',
    map: one(25, (part, context) => listOf(entity('Procedure', part, context))),
  },
];

/** Row 3: the record is of a finished procedure. PR1-20 D withdraws it (table 0206). */
function statusOf(segment: Segment, context: MapContext): Contribution {
  const action = actionOf(segment, 20, context);
  if (action === undefined) return byDefault('status', 'completed');
  return fixed('status', action === 'D' ? 'entered-in-error' : 'completed');
}

/** PR1-19, else code and date. */
function key(segment: Segment, sender: string): string {
  const id = first(segment, 19);
  if (textOf(id, 1) !== undefined) return join('id', ...numberKey(id, sender));
  return join(...conceptKey(first(segment, 3)), rawAt(segment, 4), rawAt(segment, 5));
}

export const PR1: ResourceSegment = {
  name: 'PR1',
  type: 'Procedure',
  scope: 'system/Procedure.write',
  requiresOneOf: [3, 4, 19],
  key,
  general: (segment, context) => [statusOf(segment, context)],
  source: 'PR1[Procedure]',
  fields: FIELDS,
};
