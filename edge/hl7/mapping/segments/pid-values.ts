/** Values of PID that need more than a datatype: combined fields, lists, codes with warnings. */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { locate } from '../../../../shared/hl7/value.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../shared/json.ts';
import { note, noteUnknownCode, type MapContext } from '../context.ts';
import { codeOf, concept, concepts } from '../datatypes/cwe.ts';
import { fieldText, first } from '../datatypes/text.ts';
import { address } from '../datatypes/xad.ts';
import { each } from '../field-map.ts';
import { ADMINISTRATIVE_SEX, YES_NO } from '../tables/concept-maps.ts';

export const hasType = (type: string) => (item: JsonObject) => JSON.stringify(item['type'] ?? '').includes(`"${type}"`);
export const hasUse = (use: string) => (item: JsonObject) => item['use'] === use;

export function sex(segment: Segment, context: MapContext): Json | undefined {
  const sent = codeOf(first(segment, 8));
  const gender = ADMINISTRATIVE_SEX.codes.get(sent?.toUpperCase() ?? '')?.code;
  if (sent !== undefined && gender === undefined) {
    noteUnknownCode(segment, 8, 'table 0001', context);
  }
  return gender;
}

export function yesNo(segment: Segment, field: number, context: MapContext): boolean | undefined {
  const sent = fieldText(segment, field);
  const mapped = YES_NO.codes.get(sent?.toUpperCase() ?? '')?.code;
  if (sent !== undefined && mapped === undefined) {
    noteUnknownCode(segment, field, 'table 0136', context);
  }
  return mapped === undefined ? undefined : mapped === 'true';
}

export function birthOrder(segment: Segment, context: MapContext): Json | undefined {
  const sent = fieldText(segment, 25);
  if (sent !== undefined && /^\d{1,3}$/.test(sent)) return { multipleBirthInteger: Number(sent) };
  note(context, 'W', '102', locate(segment, 25), 'PID-25 is not a number. It was not mapped.', 'not-a-number');
  return undefined;
}

/** Rows 17 to 20: the county belongs to the only address without a county, else it is another address. */
export function addresses(segment: Segment, context: MapContext): Json[] {
  const found = each(11, address)(segment, context);
  const district = fieldText(segment, 12);
  const [only] = found;
  if (district === undefined || only?.['district'] === district) return found;
  if (found.length === 1 && only !== undefined && only['district'] === undefined) return [{ ...only, district }];
  return [...found, { district }];
}

const LANGUAGE_TAG = /^[a-z]{2}(-[A-Z]{2})?$/;

/** PID-15 is the primary language. No field of PID has the preferred one (`communication.preferred`). */
export function language(segment: Segment, context: MapContext): Json | undefined {
  const found = concept(segment, 15, context);
  if (found === undefined) return undefined;
  // Row 25: a code without a system is a BCP 47 code if it has its form.
  const coding = [found['coding'] ?? []].flat().map((item) => {
    if (!isJsonObject(item) || item['system'] !== undefined || typeof item['code'] !== 'string') return item;
    return LANGUAGE_TAG.test(item['code']) ? { ...item, system: 'urn:ietf:bcp:47' } : item;
  });
  return [{ language: coding.length === 0 ? found : { ...found, coding } }];
}

/** An extension that holds a `code` extension: citizenship, nationality (rows 42–44, 46–48, 63–65). */
export const coded = (field: number) => (segment: Segment, context: MapContext) => {
  const found = concepts(segment, field, context);
  return found.length === 0
    ? undefined
    : found.map((valueCodeableConcept) => ({ extension: [{ url: 'code', valueCodeableConcept }] }));
};

export function animal(segment: Segment, context: MapContext): Json | undefined {
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
