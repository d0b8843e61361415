/** JSON whose numbers keep their digits, read without the gateway's own parser: `JSON.stringify` prints `1.50` as `1.50`. */

export interface JsonObject {
  [member: string]: Json;
}
export type Json = null | boolean | number | string | Json[] | JsonObject;

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// ECMAScript 2026, which TypeScript does not declare yet.
declare global {
  interface JSON {
    parse(text: string, reviver: (key: string, value: Json, context: { readonly source?: string }) => Json): Json;
    rawJSON(text: string): JsonObject;
  }
}

/** Keeps as raw JSON what a JavaScript number would print in another way: `1.50`, `1e2`, 18 digits. */
const readJson = (text: string): Json =>
  JSON.parse(text, (_key: string, value: Json, { source = '' }: { readonly source?: string }) =>
    typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value,
  );

/** @throws if the text is not a JSON object */
export function readObject(text: string): JsonObject {
  const value = readJson(text);
  if (!isJsonObject(value)) throw new TypeError('not a JSON object');
  return value;
}
