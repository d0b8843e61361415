/** Quotes received values in sentences for administrators: shortened, and with invisible characters replaced. */
import { type Json, printJson } from './json.ts';

const MAX_QUOTED_CHARACTERS = 120;
/** Characters that change how a line displays: C1 controls, directional marks, line separators. JSON escapes the others. */
const INVISIBLE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A received value as part of a sentence: `"a"`, `12`, or `nothing` if it is absent. */
export function quote(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const shortened =
    typeof value === 'string' && value.length > MAX_QUOTED_CHARACTERS
      ? `${value.slice(0, MAX_QUOTED_CHARACTERS)}…`
      : value;
  const text = printJson(shortened).replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > 2 * MAX_QUOTED_CHARACTERS ? `${text.slice(0, 2 * MAX_QUOTED_CHARACTERS)}…` : text;
}

const MAX_QUOTED = 5;

/** `"a", "b" and 3 more`. */
export function quoteAll(values: readonly string[]): string {
  const shown = values.slice(0, MAX_QUOTED).map(quote).join(', ');
  return values.length > MAX_QUOTED ? `${shown} and ${values.length - MAX_QUOTED} more` : shown;
}
