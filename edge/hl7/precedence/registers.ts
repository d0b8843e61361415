/**
 * The precedences of a resource's values. A register is a part of a resource that has one precedence: an element, or an item of
 * a list. Beside the registers are the times at which FHIR clients last changed elements.
 */
import { isJsonObject, parseJson, type JsonObject } from '../../../shared/json.ts';
import { readRegisters, type Register, type Registers } from '../../store/registers.ts';
import { isOfElement, readElement } from './element.ts';
import { precedenceOfCreation, precedenceOfWrite, type Precedence } from './precedence.ts';

export type { Register, Registers };

export interface Remembered {
  readonly registers: Registers;
  /** When FHIR clients changed elements, by the name of the member, or `extension <url>`. */
  readonly stamps: ReadonlyMap<string, Precedence>;
  /** The precedence of values without a register. */
  readonly base: Precedence;
}

/** @param stored JSON `{ fields, stamps }` of the table hl7_precedence; null without a row */
export function rememberedOf(id: string, stored: string | null): Remembered {
  const row = stored === null ? {} : parseJson(stored);
  const { fields, stamps } = isJsonObject(row) ? row : {};
  return {
    registers: readRegisters(fields),
    stamps: new Map(
      isJsonObject(stamps) ? Object.entries(stamps).map(([name, ms]) => [name, precedenceOfWrite(Number(ms))]) : [],
    ),
    base: precedenceOfCreation(id),
  };
}

export const nothingRemembered: Remembered = { registers: new Map(), stamps: new Map(), base: '' };

/** When a FHIR client last changed an element; `''` for never. */
export function stampOf({ stamps }: Remembered, element: string): Precedence {
  let latest: Precedence = '';
  for (const [member, precedence] of stamps)
    if (precedence > latest && isOfElement(element, member)) latest = precedence;
  return latest;
}

/** `''` for an element without a value, which any statement fills. */
export function precedenceOfElement(content: JsonObject, remembered: Remembered, element: string): Precedence {
  const said = later(remembered.registers.get(element)?.precedence ?? '', stampOf(remembered, element));
  if (said !== '' || readElement(content, element) === undefined) return said;
  return remembered.base;
}

export const later = (a: Precedence, b: Precedence): Precedence => (a > b ? a : b);
