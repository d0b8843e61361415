/**
 * XCN, CNN, NDL, XON and CWE as a reference to a person or organization (v2-to-FHIR `XCN[Practitioner]`, `CNN[Practitioner]`,
 * `NDL[PractitionerRole]`, `XON[Organization]`, `CWE[Organization]`). The gateway stores no Practitioner or Organization. A
 * reference has their identifier and display (FHIR R4, References, logical).
 */
import { child, componentOf, type Part } from '../../../../shared/hl7/value.ts';
import type { Json, JsonObject } from '../../../../shared/json.ts';
import type { MapContext } from '../context.ts';
import { codingSystem } from '../tables/coding-systems.ts';
import { assigningAuthority, entityIdentifier, identifierType, issuer } from './hd.ts';
import { clean, code, members, plainTextOf, textOf } from './text.ts';
import { displayName, XCN } from './xpn.ts';

function reference(
  type: string,
  identifier: JsonObject | undefined,
  display: string | undefined,
): JsonObject | undefined {
  const found = members({ identifier, display });
  return found === undefined ? undefined : { type, ...found };
}

/** @param component the number of the assigning authority's component */
function numbered(
  part: Part,
  value: string | undefined,
  type: string | undefined,
  component: number,
  context: MapContext,
) {
  if (value === undefined) return undefined;
  const typed = type === undefined ? undefined : identifierType(type);
  return members({ type: typed, ...issuer(assigningAuthority(part, component, context)), value });
}

/** XCN: rows 3 to 8, 11 to 13 and 18 of `XCN[Practitioner]`. */
export function practitioner(part: Part, context: MapContext): JsonObject | undefined {
  const identifier = numbered(part, textOf(part, 1), code(textOf(part, 13)), 9, context);
  return reference('Practitioner', identifier, displayName(part, XCN));
}

/** NDL.1, a CNN: its components are subcomponents (`CNN[Practitioner]` 3 to 8). */
export function observer(part: Part): JsonObject | undefined {
  const name = componentOf(part, 1);
  if (name === undefined) return undefined;
  const piece = (number: number) => clean(child(name, number));
  const value = piece(1);
  const display = [piece(6), piece(3), piece(4), piece(2), piece(5)].filter((text) => text !== undefined).join(' ');
  return reference('Practitioner', value === undefined ? undefined : { value }, display || undefined);
}

/** `XON[Organization]` 3, 5, 10 to 13 and 16. */
export function organization(part: Part, context: MapContext): JsonObject | undefined {
  const identifier = numbered(part, textOf(part, 10) ?? textOf(part, 3), code(textOf(part, 7)), 6, context);
  return reference('Organization', identifier, plainTextOf(part, 1));
}

/** `CWE[Organization]` 3 to 5 and 11. */
export function producer(part: Part, context: MapContext): JsonObject | undefined {
  const value = textOf(part, 1);
  const identifier = members({
    system: value === undefined ? undefined : codingSystem([textOf(part, 3)], context),
    value,
  });
  return reference(
    'Organization',
    value === undefined ? undefined : identifier,
    plainTextOf(part, 9) ?? plainTextOf(part, 2),
  );
}

/** A resource with an EI: a device (`OBX[Observation]` 57) or a specimen. */
export function entity(type: 'Device' | 'Specimen' | 'Condition' | 'Procedure', part: Part, context: MapContext) {
  return reference(type, entityIdentifier(part, context), undefined);
}

/** A role that the reference itself cannot have (`OBR[DiagnosticReport]` 43 to 45 and 47 to 49). */
export function inFunction(party: JsonObject, system: string, role: string): JsonObject {
  const extension: Json = [
    {
      url: 'http://hl7.org/fhir/StructureDefinition/event-performerFunction',
      valueCodeableConcept: { coding: [{ system, code: role }] },
    },
  ];
  return { extension, ...party };
}
