/**
 * A segment's map as a table: which field makes which element, and the rows of the v2-to-FHIR guide it follows (13 is
 * line 13 of the CSV of that map). Applied to a segment it gives contributions; nothing is merged here.
 */
import type { Segment } from '../../../shared/hl7/message.ts';
import { fieldPresence } from '../../../shared/hl7/value.ts';
import type { Json, JsonObject } from '../../../shared/json.ts';
import type { Contribution } from '../precedence/contribution.ts';
import type { MapContext } from './context.ts';

export interface FieldMap {
  readonly field: number;
  /** Where the source of the segment's map says so (`segments/rule.ts`): `13, 14`. */
  readonly rows: string;
  /**
   * The element: `gender`; `deceased[x]`, whose value is an object with the one member chosen; `extension <url>`, whose
   * value is the rest of the extension, or a list of such.
   */
  readonly element: string;
  /** undefined: what was sent has no place, and what is stored stays. */
  readonly map: (segment: Segment, context: MapContext) => Json | undefined;
  /** Of a list that several fields feed: which stored items are this field's, so that `""` deletes no other's. */
  readonly owns?: (item: JsonObject) => boolean;
  /** Items are never taken out by a message that does not list them: another system knows the patient by them. */
  readonly keeps?: boolean;
  /** Only then; a field whose condition fails leaves what is stored. */
  readonly when?: (segment: Segment) => boolean;
}

/** What a segment says: nothing for a field that is absent or empty, deletion for `""`. */
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
