/** SPM and OBX-33 as a reference to a Specimen (v2-to-FHIR `SPM[Specimen]` 4, 5 and 8): the gateway keeps none. */
import type { Segment } from '../../../shared/hl7/message.ts';
import type { JsonObject } from '../../../shared/json.ts';
import type { MapContext } from '../mapping/context.ts';
import { codeableConcept } from '../mapping/datatypes/cwe.ts';
import { first, textOf } from '../mapping/datatypes/text.ts';
import { fixed, type Contribution } from '../mapping/field-map.ts';
import type { GroupSegment } from './rule.ts';

export const SPM: GroupSegment = { name: 'SPM' };

/** Rows 85 and 86 of `OBX[Observation]`; else the specimen of the group (`ORU_R01` 75). */
export function specimenOf(segment: Segment, spm: Segment | undefined, context: MapContext): Contribution[] {
  const own = first(segment, 33);
  const value = own === undefined ? undefined : (textOf(own, 1) ?? textOf(own, 2));
  if (value !== undefined) return [fixed('specimen', { type: 'Specimen', identifier: { value } })];
  const specimen = spm === undefined ? undefined : specimenReference(spm, context);
  return specimen === undefined ? [] : [fixed('specimen', specimen)];
}

/** SPM-2 and SPM-4 (`SPM[Specimen]` 4, 5 and 8): the gateway keeps no Specimen. */
export function specimenReference(spm: Segment, context: MapContext): JsonObject | undefined {
  const pair = first(spm, 2);
  const value = textOf(pair, 2) ?? textOf(pair, 1);
  const concept = codeableConcept(first(spm, 4), context);
  const [coding] = [concept?.['coding'] ?? []].flat();
  const display =
    typeof coding === 'object' && coding !== null && 'display' in coding ? coding['display'] : concept?.['text'];
  if (value === undefined && display === undefined) return undefined;
  return {
    type: 'Specimen',
    ...(value !== undefined && { identifier: { value } }),
    ...(typeof display === 'string' && { display }),
  };
}
