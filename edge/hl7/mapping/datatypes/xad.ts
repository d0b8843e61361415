/** XAD and SAD as Address (v2-to-FHIR `XAD[Address]`, `SAD[Address]`), with the display text. */
import { componentOf, locatePart, type Part } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { noteUnknownUse, type MapContext } from '../context.ts';
import { ADDRESS_TYPE, ADDRESS_USE } from '../tables/concept-maps.ts';
import { textOfConcept } from './cwe.ts';
import { code, members, plainTextOf, textOf } from './text.ts';
import { dateRange, dateTime, period } from './time.ts';

const AD_USE = 'http://hl7.org/fhir/StructureDefinition/iso21090-AD-use';
const CENSUS_TRACT = 'http://hl7.org/fhir/StructureDefinition/iso21090-ADXP-censusTract';

/** Table 0190, of all versions. Some types have no use or type in FHIR. */
const ADDRESS_TYPES: ReadonlySet<string> = new Set('B BA BDL BI BR C F H HV L M N O P RH S SH TM V'.split(' '));

/** `XAD[Address]` 3 to 28. */
export function address(part: Part, context: MapContext): JsonObject | undefined {
  const street = componentOf(part, 1);
  const line = [
    textOf(street, 1),
    textOf(street, 2),
    textOf(street, 3),
    plainTextOf(part, 2),
    plainTextOf(part, 19),
  ].filter((text) => text !== undefined);
  const kind = code(textOf(part, 7))?.toUpperCase();
  const city = plainTextOf(part, 3);
  const district = textOfConcept(componentOf(part, 9));
  const state = textOf(part, 4);
  const postalCode = textOf(part, 5);
  const country = textOf(part, 6);
  const censusTract = textOfConcept(componentOf(part, 10));
  const start = dateTime(part, context, 13);
  const end = dateTime(part, context, 14);
  const text = [...line, city, [state, postalCode].filter(Boolean).join(' '), country].filter(Boolean).join(', ');

  noteUnknownUse(part, 7, 'table 0190', ADDRESS_TYPES, context);
  const place = members({ text: text || undefined, line, city, district, state, postalCode, country });
  if (place === undefined) return undefined;
  return members({
    extension: [
      ...(kind === 'HV' ? [{ url: AD_USE, valueCode: kind }] : []),
      ...(censusTract === undefined ? [] : [{ url: CENSUS_TRACT, valueString: censusTract }]),
    ],
    use: ADDRESS_USE.codes.get(kind ?? '')?.code,
    type: ADDRESS_TYPE.codes.get(kind ?? '')?.code,
    ...place,
    period:
      start === undefined && end === undefined
        ? dateRange(part, context, 12)
        : period(start, end, context, locatePart(part, 14)),
  });
}
