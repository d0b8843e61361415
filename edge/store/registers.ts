/**
 * The column `fields` of hl7_precedence: JSON { precedence: [register, or { register: what it holds }] }. Most registers share a
 * precedence, and most hold nothing, so only their name is printed.
 */
import { isJsonObject, type Json, parseJson, printJson } from '../../shared/json.ts';

/** A part of a resource that has one precedence (edge/hl7/precedence/registers.ts). */
export interface Register {
  readonly precedence: string;
  /** The field's items in a list, its place in one, or the precedence of its specific value (general.ts); null for most elements. */
  readonly held: Json;
}

/** Named like the element, or as `list.ts` and `identifiers.ts` of edge/hl7/precedence name it. */
export type Registers = ReadonlyMap<string, Register>;

/** @param fields as in the column */
export const registersIn = (fields: string): Registers => readRegisters(parseJson(fields));

/** @param fields the parsed column; undefined without a row */
export const readRegisters = (fields: Json | undefined): Registers =>
  new Map(isJsonObject(fields) ? Object.entries(fields).flatMap(withPrecedence) : []);

function withPrecedence([precedence, items]: [string, Json]): [string, Register][] {
  return [items].flat().flatMap((item): [string, Register][] => {
    if (typeof item === 'string') return [[item, { precedence, held: null }]];
    return isJsonObject(item) ? Object.entries(item).map(([name, held]) => [name, { precedence, held }]) : [];
  });
}

export function printRegisters(registers: Registers): string {
  const byPrecedence: Record<string, Json[]> = {};
  for (const [name, { precedence, held }] of registers)
    (byPrecedence[precedence] ??= []).push(held === null ? name : { [name]: held });
  return printJson(byPrecedence);
}
