/**
 * PID-10 and PID-22 as US Core's race and ethnicity (HL7 FHIR US Core Implementation Guide, us-core-race and
 * us-core-ethnicity), for sites with that setting. The codes are those of CDC.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locate, repetitions, type Part } from '../../../../shared/hl7/value.ts';
import type { Json, JsonObject } from '../../../../shared/json.ts';
import { note, type MapContext } from '../context.ts';
import { codeOf, textOfConcept } from '../datatypes/cwe.ts';
import { textOf } from '../datatypes/text.ts';
import type { FieldMap } from '../field-map.ts';
import { isOwnTable } from '../tables/coding-systems.ts';

const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition';
const CDC = 'urn:oid:2.16.840.1.113883.6.238';
const NULL_FLAVOR = 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor';
const CDC_CODE = /^\d{4}-\d$/;
/** Names of the CDC's code system in CWE.3. */
const CDC_NAMES: ReadonlySet<string> = new Set(['CDCREC', '2.16.840.1.113883.6.238']);

interface Kind {
  readonly url: string;
  /** The table with the CDC's codes: `HL70005`. */
  readonly table: string;
  /** The categories of the Office of Management and Budget, by code. */
  readonly categories: ReadonlyMap<string, string>;
  /** Codes of the table that are not the CDC's. */
  readonly codes: ReadonlyMap<string, string>;
  /** The number of categories that the extension allows. */
  readonly max: number;
}

const RACE: Kind = {
  url: `${US_CORE}/us-core-race`,
  table: 'HL70005',
  categories: new Map([
    ['1002-5', 'American Indian or Alaska Native'],
    ['2028-9', 'Asian'],
    ['2054-5', 'Black or African American'],
    ['2076-8', 'Native Hawaiian or Other Pacific Islander'],
    ['2106-3', 'White'],
  ]),
  codes: new Map(),
  max: 5,
};

const ETHNICITY: Kind = {
  url: `${US_CORE}/us-core-ethnicity`,
  table: 'HL70189',
  categories: new Map([
    ['2135-2', 'Hispanic or Latino'],
    ['2186-5', 'Not Hispanic or Latino'],
  ]),
  codes: new Map([
    ['H', '2135-2'],
    ['N', '2186-5'],
  ]),
  max: 1,
};

const UNKNOWN: ReadonlySet<string> = new Set(['U', 'UNK', 'UNKNOWN']);
const UNKNOWN_CODING: JsonObject = { system: NULL_FLAVOR, code: 'UNK', display: 'Unknown' };

/** A repetition as a category or a code of the CDC; undefined for a local one, which is text. */
function codingOf(part: Part, { table, categories, codes }: Kind): JsonObject | undefined {
  const sent = codeOf(part)?.toUpperCase();
  const name = textOf(part, 3);
  if (sent === undefined || !(isOwnTable(name, table) || CDC_NAMES.has(name?.toUpperCase() ?? ''))) return undefined;
  if (UNKNOWN.has(sent)) return UNKNOWN_CODING;
  const code = codes.get(sent) ?? sent;
  const display = categories.get(code) ?? textOf(part, 2);
  return CDC_CODE.test(code) ? { system: CDC, code, ...(display !== undefined && { display }) } : undefined;
}

function extensionOf(parts: readonly Part[], kind: Kind): JsonObject | undefined {
  const codings = parts.map((part) => codingOf(part, kind)).filter((found) => found !== undefined);
  const isCategory = ({ code }: JsonObject) =>
    code === 'UNK' || (typeof code === 'string' && kind.categories.has(code));
  const unique = [...new Map(codings.map((coding) => [coding['code'], coding])).values()];
  const known = unique.filter(({ code }) => code !== 'UNK');
  // An unknown value adds nothing to a known one.
  const all = known.length > 0 ? known : unique;
  const categories = all.filter(isCategory).slice(0, kind.max);
  const texts = parts.map((part) => textOf(part, 9) ?? textOf(part, 2) ?? displayOf(part, kind) ?? textOfConcept(part));
  const text = [...new Set(texts.filter((found) => found !== undefined))].join(', ');
  if (text === '') return undefined;
  const extension: Json[] = [
    ...categories.map((valueCoding) => ({ url: 'ombCategory', valueCoding })),
    ...all.filter((coding) => !isCategory(coding)).map((valueCoding) => ({ url: 'detailed', valueCoding })),
    { url: 'text', valueString: text },
  ];
  return { extension };
}

const displayOf = (part: Part, kind: Kind): string | undefined => {
  const display = codingOf(part, kind)?.['display'];
  return typeof display === 'string' ? display : undefined;
};

const field = (number: number, rows: string, kind: Kind): FieldMap => ({
  field: number,
  rows,
  element: `extension ${kind.url}`,
  map: (segment: Segment, context: MapContext) => {
    if (context.usCore) return extensionOf(repetitions(segment, number), kind);
    const message = `PID-${number} was stored with the message and not mapped. The site does not use US Core.`;
    note(context, 'I', '0', locate(segment, number), message, 'not-mapped');
    return undefined;
  },
});

/** `PID[Patient]` 15 and 37, which leave it to the country. */
export const US_CORE_FIELDS: readonly FieldMap[] = [field(10, '15', RACE), field(22, '37', ETHNICITY)];
