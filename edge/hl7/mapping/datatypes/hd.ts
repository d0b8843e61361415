/**
 * HD and EI: the assigning authority of an identifier (v2-to-FHIR `HD[uri]`, `EI[Identifier-System]`). An OID or UUID becomes
 * the system (`HD[uri]` 4 and 5, with any HD.1). A bare namespace gets the URI in the site's settings, else it is the
 * assigner's display.
 */
import { componentOf, locatePart, type Part } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { uriOfNamespace, uriOfUniversalId } from '../assigning-authority.ts';
import { nameKey } from '../../../store/patient-identity.ts';
import { note, type MapContext } from '../context.ts';
import { members, plainTextOf, textOf } from './text.ts';

export interface Authority {
  readonly system: string | undefined;
  /** HD.1 or EI.2. */
  readonly namespace: string | undefined;
}

function authority(namespace: string | undefined, id: string | undefined, context: MapContext): Authority {
  const system =
    uriOfUniversalId(id) ??
    [namespace, id].flatMap((name) =>
      name === undefined ? [] : (uriOfNamespace(name, context.assigningAuthorities) ?? []),
    )[0];
  const name = namespace ?? (system === undefined ? id : undefined);
  if (system === undefined && name !== undefined) context.unmapped({ kind: 'authority', name: nameKey(name) });
  return { system, namespace: name };
}

/** The lookup limits values, because index entries of the database are limited. No real identifier is longer. */
const MAX_IDENTIFIER_LENGTH = 200;

/** @param severity `E` if the message needs the identifier; else it is skipped */
export function isTooLong(
  value: string,
  part: Part,
  context: Pick<MapContext, 'report'>,
  severity: 'E' | 'W' = 'W',
): boolean {
  if (value.length <= MAX_IDENTIFIER_LENGTH) return false;
  const message = `The identifier is longer than ${MAX_IDENTIFIER_LENGTH} characters.`;
  note(context, severity, '102', locatePart(part, 1), message, 'identifier-too-long');
  return true;
}

/** The HD in a component of a CX, XCN or XON. */
export function assigningAuthority(part: Part | undefined, number: number, context: MapContext): Authority {
  const hd = part === undefined ? undefined : componentOf(part, number);
  return authority(textOf(hd, 1), textOf(hd, 2), context);
}

/** `system` and `assigner` of an Identifier. */
export function issuer({ system, namespace }: Authority): JsonObject {
  return {
    ...(system !== undefined && { system }),
    ...(namespace !== undefined && { assigner: { display: namespace } }),
  };
}

/**
 * EI as Identifier (`EI[Identifier-Extension]` 3, `EI[Identifier-System]` 4 and 5).
 *
 * @param type code of table 0203
 */
export function entityIdentifier(part: Part | undefined, context: MapContext, type?: string): JsonObject | undefined {
  const value = plainTextOf(part, 1);
  if (part === undefined || value === undefined || isTooLong(value, part, context)) return undefined;
  // Some senders put a complete HD into EI.2, which has only its namespace. An EI within a component has no HD.
  const hd = componentOf(part, 2);
  const namespace = part.component > 0 ? textOf(part, 2) : textOf(hd, 1);
  return members({
    type: type === undefined ? undefined : identifierType(type),
    ...issuer(authority(namespace, textOf(part, 3) ?? textOf(hd, 2), context)),
    value,
  });
}

const IDENTIFIER_TYPE_SYSTEM = 'http://terminology.hl7.org/CodeSystem/v2-0203';

export function identifierType(type: string): JsonObject {
  return { coding: [{ system: IDENTIFIER_TYPE_SYSTEM, code: type }] };
}
