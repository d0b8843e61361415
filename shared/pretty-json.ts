/** `_pretty`: JSON for people (FHIR R4 http, 3.1.0.1.7), numbers digit for digit. */
import { type Json, JsonNumber, parseJson, printJson } from './json.ts';

function print(value: Json, indent: string): string {
  if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return printJson(value);
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => inner + print(item, inner))
    : Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${print(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

/** @param json JSON text of ours, however deep a page makes it */
export function pretty(json: string): string {
  return `${print(parseJson(json, Number.POSITIVE_INFINITY), '')}\n`;
}
