/**
 * The precedences of a resource's values. A register is a part of a resource that has one precedence: an element, or an item of
 * a list. Beside the registers are the times at which FHIR clients last changed elements.
 */
import { isJsonObject, parseJson, printJson, type Json, type JsonObject } from '../../../shared/json.ts';
import { isOfElement, readElement } from './element.ts';
import { precedenceOfCreation, precedenceOfWrite, type Precedence } from './precedence.ts';

export interface Register {
  readonly precedence: Precedence;
  /** The field's items in a list, or its place in one; null for an element. */
  readonly held: Json;
}

/** Named like the element, or as `list.ts` and `identifiers.ts` name it. */
export type Registers = ReadonlyMap<string, Register>;

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
    registers: registersOf(fields),
    stamps: new Map(
      isJsonObject(stamps) ? Object.entries(stamps).map(([name, ms]) => [name, precedenceOfWrite(Number(ms))]) : [],
    ),
    base: precedenceOfCreation(id),
  };
}

export const nothingRemembered: Remembered = { registers: new Map(), stamps: new Map(), base: '' };

/** @param fields as in hl7_precedence */
export const registersIn = (fields: string): Registers => registersOf(parseJson(fields));

const registersOf = (fields: Json | undefined): Registers =>
  new Map(isJsonObject(fields) ? Object.entries(fields).flatMap(withPrecedence) : []);

function withPrecedence([precedence, items]: [string, Json]): [string, Register][] {
  return [items].flat().flatMap((item): [string, Register][] => {
    if (typeof item === 'string') return [[item, { precedence, held: null }]];
    return isJsonObject(item) ? Object.entries(item).map(([name, held]) => [name, { precedence, held }]) : [];
  });
}

/** The column `fields`: registers by precedence, which most of them share. Most hold nothing, and only their name is printed. */
export function printRegisters(registers: Registers): string {
  const byPrecedence: Record<Precedence, Json[]> = {};
  for (const [name, { precedence, held }] of registers)
    (byPrecedence[precedence] ??= []).push(held === null ? name : { [name]: held });
  return printJson(byPrecedence);
}

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
