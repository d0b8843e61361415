/** A search value taken apart: commas, bars and their escapes (FHIR R4 search, 3.1.1.4.0.1 and 3.1.1.5.1). */
import type { Token } from '../../store/criterion.ts';

/** Splits at a separator that no backslash precedes; the escapes stay. */
function splitUnescaped(text: string, separator: ',' | '|', limit = Number.POSITIVE_INFINITY): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length && parts.length < limit - 1; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function unescapeValue(text: string): string {
  return text.replace(/\\([,|$\\])/g, '$1');
}

/** The alternatives of a value, escapes resolved. */
export function alternatives(value: string): string[] {
  return splitUnescaped(value, ',').map(unescapeValue);
}

/** `v` any system, `s|v` both, `|v` no system, `s|` any value of a system. */
function token(text: string): Token {
  const [first = '', second] = splitUnescaped(text, '|', 2).map(unescapeValue);
  if (second === undefined) return { system: null, value: first };
  return { system: first, value: second === '' ? null : second };
}

/** The alternatives of a token parameter; one that is empty (`` or `|`) comes out with neither system nor value. */
export function tokens(value: string): Token[] {
  return splitUnescaped(value, ',').map(token);
}

/** True for the token that says nothing. */
export function isEmptyToken({ system, value }: Token): boolean {
  return (value === null || value === '') && (system === null || system === '');
}
