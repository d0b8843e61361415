/**
 * SPM, OBX-33 and OBR-15 (in older versions) as a reference to a Specimen (v2-to-FHIR `SPM[Specimen]` 4, 5 and 8,
 * `OBR[Specimen]` 20). The gateway stores no Specimen.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { child, componentOf } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import type { MapContext } from '../context.ts';
import { codeableConcept } from '../datatypes/cwe.ts';
import { clean, first, textOf } from '../datatypes/text.ts';
import { fixed, type Contribution } from '../../precedence/contribution.ts';
import type { GroupSegment } from './rule.ts';

export const SPM: GroupSegment = { name: 'SPM' };

/** Rows 85 and 86 of `OBX[Observation]`; else the specimen of the group (`ORU_R01` 75), else the source in OBR. */
export function specimenOf(
  segment: Segment,
  spm: Segment | undefined,
  obr: Segment | undefined,
  context: MapContext,
): Contribution[] {
  const own = first(segment, 33);
  const value = own === undefined ? undefined : (textOf(own, 1) ?? textOf(own, 2));
  if (value !== undefined) return [fixed('specimen', { type: 'Specimen', identifier: { value } })];
  const specimen = spm === undefined ? obr && specimenSource(obr) : specimenReference(spm, context);
  return specimen === undefined ? [] : [fixed('specimen', specimen)];
}

/** SPM-2 and SPM-4 (`SPM[Specimen]` 4, 5 and 8). */
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

/** CWE.3 of senders that write OBR-15 as a coded value: `BLD^Blood^HL70070`. */
const CODING_SYSTEM = /^(?:HL7\d{4}|SCT|SNM|SNOMED.*|LN|L|99\w*)$/i;

/**
 * OBR-15, an SPS: the source and the body site of the specimen, each a coded value within its component (HL7 v2.5.1 §2.A.68).
 */
export function specimenSource(obr: Segment): JsonObject | undefined {
  const part = first(obr, 15);
  if (part === undefined) return undefined;
  const nameOf = (component: number): string | undefined => {
    const concept = componentOf(part, component);
    return concept && (clean(child(concept, 2)) ?? clean(child(concept, 1)));
  };
  const isCoded = CODING_SYSTEM.test(textOf(part, 3) ?? '');
  const display = isCoded ? (textOf(part, 2) ?? textOf(part, 1)) : [nameOf(1), nameOf(4)].filter(Boolean).join(', ');
  return display === undefined || display === '' ? undefined : { type: 'Specimen', display };
}
