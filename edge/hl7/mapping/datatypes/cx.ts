/** CX and DLN as Identifier (v2-to-FHIR `CX[Identifier]`, `DLN[Identifier]`). */
import { locatePart, type Part } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { nameKey } from '../../../store/patient-identity.ts';
import type { MapContext } from '../context.ts';
import { assigningAuthority, identifierType, isTooLong, issuer, type Authority } from './hd.ts';
import { code, members, plainTextOf, textOf } from './text.ts';
import { date, period } from './time.ts';

const CHECK_DIGIT = 'http://hl7.org/fhir/StructureDefinition/identifier-checkDigit';
const CHECK_DIGIT_SCHEME = 'http://hl7.org/fhir/StructureDefinition/namingsystem-checkDigit';

/**
 * `CX[Identifier]` 3 to 13. R4 has no place for row 11, the assigning facility. It becomes the authority if there is no other.
 */
export function identifier(part: Part, context: MapContext): JsonObject | undefined {
  const value = plainTextOf(part, 1);
  if (value === undefined || isTooLong(value, part, context)) return undefined;
  const type = code(textOf(part, 5));
  const valueString = (url: string, text: string | undefined) =>
    text === undefined ? [] : [{ url, valueString: text }];
  return members({
    extension: [...valueString(CHECK_DIGIT, textOf(part, 2)), ...valueString(CHECK_DIGIT_SCHEME, textOf(part, 3))],
    type: type === undefined ? undefined : identifierType(type),
    ...issuer(authorityOf(part, context)),
    value,
    period: period(date(part, context, 7), date(part, context, 8), context, locatePart(part, 8)),
  });
}

function authorityOf(part: Part, context: MapContext): Authority {
  const authority = assigningAuthority(part, 4, context);
  return authority.system === undefined && authority.namespace === undefined
    ? assigningAuthority(part, 6, context)
    : authority;
}

/** `DLN[Identifier]` 3 to 7. */
export function driversLicense(part: Part, context: MapContext): JsonObject | undefined {
  const value = plainTextOf(part, 1);
  if (value === undefined || isTooLong(value, part, context)) return undefined;
  const state = textOf(part, 2);
  const system = state === undefined ? undefined : context.authorities.get(nameKey(state));
  return members({
    type: identifierType('DL'),
    system,
    value,
    assigner: state === undefined || system !== undefined ? undefined : { display: state },
    period: members({ end: date(part, context, 3) }),
  });
}
