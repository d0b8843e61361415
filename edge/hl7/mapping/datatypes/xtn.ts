/** XTN as ContactPoint (v2-to-FHIR `XTN[ContactPoint]`). */
import { locatePart, type Part } from '../../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../../shared/json.ts';
import { noteUnknownUse, type MapContext } from '../context.ts';
import { TELECOM_USE } from '../tables/concept-maps.ts';
import { code, members, textOf } from './text.ts';
import { dateTime, period } from './time.ts';

/** Concept map TelecommunicationEquipmentType, except that a cell phone is a phone with use mobile. */
const EQUIPMENT: ReadonlyMap<string, { readonly system: string; readonly use?: string }> = new Map([
  ['PH', { system: 'phone' }],
  ['FX', { system: 'fax' }],
  ['MD', { system: 'other' }],
  ['CP', { system: 'phone', use: 'mobile' }],
  ['SAT', { system: 'other' }],
  ['BP', { system: 'pager' }],
  ['INTERNET', { system: 'email' }],
  ['X.400', { system: 'email' }],
  ['TDD', { system: 'other' }],
  ['TTY', { system: 'other' }],
]);

/** Table 0201, of all versions. */
const USES: ReadonlySet<string> = new Set('ASN BPN EMR NET ORN PRN PRS VHN WPN'.split(' '));

/** Rows 9 to 14, 19 and 20. */
const NUMBER_PARTS: readonly (readonly [component: number, url: string])[] = [
  [5, 'http://hl7.org/fhir/StructureDefinition/contactpoint-country'],
  [6, 'http://hl7.org/fhir/StructureDefinition/contactpoint-area'],
  [7, 'http://hl7.org/fhir/StructureDefinition/contactpoint-local'],
  [8, 'http://hl7.org/fhir/StructureDefinition/contactpoint-extension'],
];

/** @param fallbackUse without XTN.2: `home` for PID-13, `work` for PID-14 (`PID[Patient]` 22 and 24) */
export function contactPoint(part: Part, context: MapContext, fallbackUse?: string): JsonObject | undefined {
  const useCode = code(textOf(part, 2))?.toUpperCase();
  const equipmentCode = code(textOf(part, 3));
  const equipment = EQUIPMENT.get(equipmentCode?.toUpperCase() ?? '');
  const isEmail = equipment?.system === 'email' || (equipmentCode === undefined && isEmailAddress(part, useCode));
  const value = isEmail ? (textOf(part, 4) ?? textOf(part, 1)) : phoneNumber(part);
  if (value === undefined) return undefined;

  const extension = isEmail
    ? []
    : NUMBER_PARTS.flatMap(([number, url]) => {
        const valueString = textOf(part, number);
        return valueString === undefined ? [] : [{ url, valueString }];
      });
  noteUnknownUse(part, 2, 'table 0201', USES, context);
  noteUnknownUse(part, 3, 'table 0202', new Set(EQUIPMENT.keys()), context);
  const rank = textOf(part, 18);
  return members({
    extension,
    // A phone number field has a phone number, unless XTN.3 differs.
    system: isEmail ? 'email' : (equipment?.system ?? 'phone'),
    value,
    use: equipment?.use ?? (useCode === undefined ? fallbackUse : TELECOM_USE.codes.get(useCode)?.code),
    rank: rank !== undefined && /^[1-9]\d{0,8}$/.test(rank) ? Number(rank) : undefined,
    period: period(dateTime(part, context, 13), dateTime(part, context, 14), context, locatePart(part, 14)),
  });
}

/** Row 6. Senders of older versions also put an address in the place of the number. */
function isEmailAddress(part: Part, useCode: string | undefined): boolean {
  if (useCode === 'NET' || textOf(part, 4) !== undefined) return true;
  return textOf(part, 1)?.includes('@') ?? false;
}

/** Rows 3, 15 to 18 and 24: the number as dialled, else its parts, else the old XTN.1. */
function phoneNumber(part: Part): string | undefined {
  const dialled = textOf(part, 12);
  if (dialled !== undefined) return dialled;
  const local = textOf(part, 7);
  if (local === undefined) return textOf(part, 1);
  const country = textOf(part, 5);
  const extension = textOf(part, 8);
  return [
    country === undefined ? undefined : `+${country.replace(/^\+/, '')}`,
    textOf(part, 6),
    local,
    extension === undefined ? undefined : `X${extension}`,
  ]
    .filter((piece) => piece !== undefined)
    .join(' ');
}
