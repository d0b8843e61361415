/**
 * OBX-5 by OBX-2 as value[x] (v2-to-FHIR `OBX[Observation]` 7 to 36, `OBX[Observation-Component]` 8 to 39). A value that does
 * not fit its type is kept as text, with a warning. A unit is never lost. A written number (`<5`, `5.6`) is a Quantity. A text
 * has the unit in its display (FHIR R4, extension rendered-value).
 */
import { ERROR_REASONS } from '../../../../shared/hl7/error-reason.ts';
import type { Segment } from '../../../../shared/hl7/message.ts';
import { fhirDateTime, fhirTime, readTimestamp } from '../../../../shared/hl7/time.ts';
import { locate, locatePart, repetitions, type Part } from '../../../../shared/hl7/value.ts';
import { printJson, type JsonObject } from '../../../../shared/json.ts';
import { attempt, type MapContext, note, quietly } from '../context.ts';
import { encapsulated, pointer } from '../datatypes/attachment.ts';
import { codeableConcept } from '../datatypes/cwe.ts';
import {
  decimal,
  numericRange,
  structuredNumeric,
  structuredText,
  unitOf,
  unitText,
  writtenNumber,
} from '../datatypes/quantity.ts';
import {
  code,
  fieldText,
  first,
  joinedText,
  linesOf,
  plainTextOf,
  textOf,
  repetitionText,
  members,
} from '../datatypes/text.ts';
import { dateRange } from '../datatypes/time.ts';

/** The members of a value: one `value…`, or the attachment that R4 has no value for. */
export interface ObservedValue {
  readonly value?: JsonObject;
  readonly attachment?: JsonObject;
}

interface ValueContext extends MapContext {
  readonly unit: JsonObject;
  readonly unitText: string | undefined;
}

type Reader = (part: Part, context: ValueContext) => ObservedValue | undefined;

const string = (text: string | undefined): ObservedValue | undefined =>
  text === undefined ? undefined : { value: { valueString: text } };
const value = (found: JsonObject | undefined): ObservedValue | undefined =>
  found === undefined ? undefined : { value: found };

const text: Reader = (part) => string(repetitionText(part));

/** A text is a number only with a unit, and if it would be printed as sent: `007` is a text. */
function measured(sent: string | undefined, unit: JsonObject): ObservedValue | undefined {
  if (sent === undefined || Object.keys(unit).length === 0) return undefined;
  const valueQuantity = writtenNumber(sent, unit);
  const digits = sent.replace(/^[<>=≤≥]+\s*/, '');
  return valueQuantity !== undefined && printJson(valueQuantity['value'] ?? null) === digits
    ? { value: { valueQuantity } }
    : undefined;
}

const textOrNumber: Reader = (part, context) => measured(repetitionText(part), context.unit) ?? text(part, context);

const RENDERED_VALUE = 'http://hl7.org/fhir/StructureDefinition/rendered-value';

/** A text with its unit as display text: R4 has no unit for a string. */
function withUnit(observed: ObservedValue, unit: string | undefined): ObservedValue {
  const sent = observed.value?.['valueString'];
  if (typeof sent !== 'string' || unit === undefined || sent.endsWith(` ${unit}`)) return observed;
  const rendered = { url: RENDERED_VALUE, valueString: `${sent} ${unit}` };
  return { value: { ...observed.value, _valueString: { extension: [rendered] } } };
}

const coded: Reader = (part, context) => {
  const concept = codeableConcept(part, context);
  return concept === undefined ? undefined : { value: { valueCodeableConcept: concept } };
};

const number: Reader = (part, { unit }) => {
  // `10^5` is not ten: the sender forgot to escape the ^.
  if (textOf(part, 2) !== undefined) return undefined;
  const valueQuantity = writtenNumber(plainTextOf(part, 1) ?? '', unit);
  return valueQuantity === undefined ? undefined : { value: { valueQuantity } };
};

const moment: Reader = (part, { zone }) => {
  const sent = textOf(part, 1);
  if (sent === undefined) return undefined;
  return { value: { valueDateTime: fhirDateTime(readTimestamp(sent, locatePart(part, 1)), zone) } };
};

const time: Reader = (part) => {
  const sent = textOf(part, 1);
  return sent === undefined ? undefined : { value: { valueTime: fhirTime(sent, locatePart(part, 1)) } };
};

const structured: Reader = (part, { unit, unitText }) =>
  value(structuredNumeric(part, unit)) ?? string(structuredText(part, unitText) || undefined);

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['NM', number],
  ['ST', textOrNumber],
  ['TX', text],
  ['FT', text],
  ['SN', structured],
  ['CE', coded],
  ['CWE', coded],
  ['CNE', coded],
  ['CF', coded],
  ['IS', coded],
  ['ID', coded],
  ['DT', moment],
  ['TS', moment],
  ['DTM', moment],
  ['TM', time],
  [
    'DR',
    (part, context) => {
      const valuePeriod = dateRange(part, quietly(context));
      // One end of a period that has both would be another period.
      const sent = [1, 2].filter((end) => textOf(part, end) !== undefined);
      return sent.length === Object.keys(valuePeriod ?? {}).length ? value(valuePeriod && { valuePeriod }) : undefined;
    },
  ],
  [
    'NR',
    (part, { unit }) => {
      const valueRange = numericRange(part, unit);
      return valueRange === undefined ? undefined : { value: { valueRange } };
    },
  ],
  ['VR', (part) => string([textOf(part, 1), textOf(part, 2)].filter(Boolean).join('-') || undefined)],
  ['ED', (part) => members({ attachment: encapsulated(part) })],
  ['RP', (part) => members({ attachment: pointer(part) })],
]);

/** Checks for a type whose values are codes. */
export const isCodedType = (type: string): boolean => READERS.get(type) === coded;

/** Types whose repetitions are lines of one text. */
export const TEXT_TYPES: ReadonlySet<string> = new Set(['TX', 'FT']);

/** Types whose repetitions are the rows of one table of numbers (HL7 v2.5.1 §2.A.42, §2.A.46): a waveform has thousands. */
export const TABLE_TYPES: ReadonlySet<string> = new Set(['MA', 'NA']);

/** OBX-2. Some senders code it (`CWE^^HL70125`): the code counts. */
export const valueType = (segment: Segment): string | undefined => code(fieldText(segment, 2))?.toUpperCase();

/** The values of OBX-5, one for each repetition with a value. Without OBX-2, or with an unknown one, it is text. */
export function observedValues(segment: Segment, context: MapContext): ObservedValue[] {
  const type = valueType(segment) ?? 'ST';
  const parts = repetitions(segment, 5).filter((part) => part.raw !== '' && part.raw !== '""');
  const unitPart = first(segment, 6);
  const unit = unitText(unitPart);
  const valueContext: ValueContext = { ...context, unit: unitOf(unitPart, context), unitText: unit };
  if (TABLE_TYPES.has(type)) {
    const table = observedTable(segment, type, context);
    return table === undefined ? [] : [withUnit(table, unit)];
  }
  const reader = READERS.get(type);
  if (reader === undefined && parts[0] !== undefined) {
    note(
      context,
      'W',
      '103',
      `${segment.id}^${segment.sequence}^2`,
      ERROR_REASONS['unknown-value-type'],
      'unknown-value-type',
    );
  }
  if (TEXT_TYPES.has(type)) {
    const lines = joinedText(linesOf(segment, 5));
    const found = measured(lines, valueContext.unit) ?? string(lines);
    return found === undefined ? [] : [withUnit(found, unit)];
  }
  return parts
    .map((part) => observed(part, type, reader ?? textOrNumber, valueContext))
    .filter((found) => found !== undefined)
    .map((found) => withUnit(found, unit));
}

/** Row 25 and `NA[SampledData]` 3 to 7: the numbers row by row. HL7 v2 has no interval between them. */
function observedTable(segment: Segment, type: string, context: MapContext): ObservedValue | undefined {
  const { component, repetition } = segment.source.delimiters;
  const rows = (segment.field(5) ?? '').split(repetition).filter((row) => row !== '' && row !== '""');
  if (rows.length === 0) return undefined;
  const samples = rows.map((row) => row.split(component).map((sample) => sample.trim()));
  if (samples.every((row) => row.every((sample) => decimal(sample) !== undefined))) {
    return string(samples.map((row) => row.join(' ')).join('\n'));
  }
  noteOtherType(locate(segment, 5), type, context);
  return string(joinedText(linesOf(segment, 5)));
}

function observed(part: Part, type: string, reader: Reader, context: ValueContext): ObservedValue | undefined {
  // An invalid date gets the warning below, and the value is kept.
  const found = attempt(quietly(context), () => reader(part, context));
  if (found !== undefined) return found;
  const kept = repetitionText(part);
  if (kept === undefined) return undefined;
  noteOtherType(locatePart(part), type, context);
  return { value: { valueString: kept } };
}

function noteOtherType(at: string, type: string, context: MapContext): void {
  note(context, 'W', '102', at, `OBX-5 is not a valid ${type}. It was stored as text.`, 'value-of-another-type');
}

const ATTACHED: ReadonlySet<string> = new Set(['ED', 'RP']);

/** Checks for a document, or a pointer to one, in OBX-5. */
const isAttached = (segment: Segment): boolean => ATTACHED.has(valueType(segment) ?? '');

/** The attachments of an OBX, for the report's presented form. */
export function attachmentsOf(segment: Segment, context: MapContext): JsonObject[] {
  if (!isAttached(segment)) return [];
  return observedValues(segment, quietly(context))
    .map(({ attachment }) => attachment)
    .filter((found) => found !== undefined);
}
