/**
 * A segment's map as a table of fields, elements and rows of the v2-to-FHIR guide (13 is line 13 of the map's CSV). Applied to
 * a segment it gives contributions. Nothing is merged here.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { fieldPresence, firstRepetition, repetitions, type Part } from '../../../shared/hl7/value.ts';
import type { Json, JsonObject } from '../../../shared/json.ts';
import type { Contribution } from '../precedence/contribution.ts';
import type { MapContext } from './context.ts';

export interface FieldMap {
  readonly field: number;
  /** Rows of the map that the segment's source names (`segments/rule.ts`): `13, 14`. */
  readonly rows: string;
  /**
   * `gender`, for instance. `deceased[x]` has an object with the chosen member as its value, `extension <url>` the rest of the
   * extension or a list of them.
   */
  readonly element: string;
  /** undefined: the value has no place, and the stored one stays. */
  readonly map: (segment: Segment, context: MapContext) => Json | undefined;
  /** Selects this field's items in a list that several fields feed, so that `""` deletes no others. */
  readonly owns?: (item: JsonObject) => boolean;
  /** A message never removes items that it does not list: another system uses them. */
  readonly keeps?: boolean;
  /** If it is false, the stored value stays. */
  readonly when?: (segment: Segment) => boolean;
}

/** The contributions of a segment: none for an absent or empty field, deletion for `""`. */
export function contributionsOf(
  segment: Segment | undefined,
  table: readonly FieldMap[],
  context: MapContext,
): Contribution[] {
  if (segment === undefined) return [];
  const found: Contribution[] = [];
  for (const { field, element, map, owns, keeps, when } of table) {
    const presence = fieldPresence(segment, field);
    if (presence === 'absent' || presence === 'empty' || when?.(segment) === false) continue;
    const value = presence === 'null' ? null : map(segment, context);
    if (value !== undefined)
      found.push({ field: `${segment.id}-${field}`, element, value, owns, ...(keeps === true && { keeps }) });
  }
  return found;
}

/** Maps the first repetition of a field. */
export const one =
  (field: number, map: (part: Part, context: MapContext) => Json | undefined) =>
  (segment: Segment, context: MapContext) => {
    const part = firstRepetition(segment, field);
    return part && map(part, context);
  };

/** Maps each repetition of a field to an item of a list. */
export const each =
  (field: number, map: (part: Part, context: MapContext) => JsonObject | undefined) =>
  (segment: Segment, context: MapContext) =>
    repetitions(segment, field)
      .map((part) => map(part, context))
      .filter((found) => found !== undefined);
