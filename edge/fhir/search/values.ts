/**
 * A search value taken apart: commas, bars and their escapes, prefixes, references (FHIR R4 search, 3.1.1.4.0.1,
 * 3.1.1.4.5, 3.1.1.4.12 and 3.1.1.5.1).
 */
import type { SearchSet } from '../../config.ts';
import type { DateValue, ReferenceValue, SplitValue, Token } from '../../store/search/kind.ts';
import { comparedRange, instantInterval, prefixed } from '../prefixed-date.ts';

export interface ValueContext {
  /** `{base}/fhir`. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The set of search parameters of the deployment. */
  readonly searches: SearchSet;
}

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

/** A text as one alternative of a value. */
export const escaped = (text: string): string => text.replace(/[\\,|$]/g, '\\$&');

const unescapeValue = (text: string): string => text.replace(/\\([,|$\\])/g, '$1');

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

/** The alternatives of a token parameter; an empty one (`` or `|`) has neither system nor value. */
export function tokens(value: string): Token[] {
  return splitUnescaped(value, ',').map(token);
}

function dateValue(text: string, now: number): DateValue {
  const { prefix, date } = prefixed(text);
  return { prefix, text: date, interval: instantInterval(text, now), range: comparedRange(prefix, date, now) };
}

/** `[type]/[id]`, `[id]` or `{root}/[type]/[id]`; any other absolute URL or URN is of another server. */
function referenceValue(text: string, root: string): ReferenceValue {
  const relative = text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text;
  if (/^[a-z][a-z0-9+.-]*:/i.test(relative)) return { at: 'elsewhere' };
  const [type, id, ...rest] = relative.includes('/') ? relative.split('/') : [null, relative];
  if (type === undefined || id === undefined || id === '' || rest.length > 0) return { at: 'nowhere' };
  return { at: 'here', type, id };
}

/** @param value as sent, URL-decoded */
export function splitValue(value: string, { root, now }: ValueContext): SplitValue {
  return {
    texts: () => alternatives(value),
    tokens: () => tokens(value),
    dates: () => alternatives(value).map((text) => dateValue(text, now)),
    references: () => alternatives(value).map((text) => referenceValue(text, root)),
  };
}
