/**
 * The parts of PV1 that the gateway stores. These are whether the patient is a VIP (v2-to-FHIR `PV1[Patient]`), and the visit
 * number, to which results, diagnoses and procedures refer. The gateway stores no Encounter.
 */
import type { Segment } from '../../../../shared/hl7/message.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import type { MapContext } from '../context.ts';
import { codeableConcept } from '../datatypes/cwe.ts';
import { identifier } from '../datatypes/cx.ts';
import { identifierType } from '../datatypes/hd.ts';
import { first, members } from '../datatypes/text.ts';
import type { FieldMap } from '../field-map.ts';
import { firstOne, type PatientSegment } from './rule.ts';

const FIELDS: readonly FieldMap[] = [
  {
    field: 16,
    rows: '18, 19',
    element: 'extension http://hl7.org/fhir/StructureDefinition/patient-importance',
    map: (segment, context) =>
      members({ valueCodeableConcept: codeableConcept(first(segment, 16), context, 'HL70099') }),
  },
];

export const PV1: PatientSegment = {
  name: 'PV1',
  contributions: firstOne(FIELDS),
  source: 'PV1[Patient]',
  fields: FIELDS,
};

/**
 * The visit of a message: PV1-19 (`PV1[Encounter]`), else PID-18, the account, which many systems open for each visit
 * (`PID[Patient]`, row 29).
 *
 * @returns a logical reference (FHIR R4, References); undefined without a number
 */
export function visitOf(pid: Segment, pv1: Segment | undefined, context: MapContext): JsonObject | undefined {
  const numbers = [
    { part: pv1 && first(pv1, 19), type: 'VN' },
    { part: first(pid, 18), type: 'AN' },
  ];
  for (const { part, type } of numbers) {
    const found = part === undefined ? undefined : identifier(part, context);
    if (found !== undefined) return { type: 'Encounter', identifier: { type: identifierType(type), ...found } };
  }
  return undefined;
}
