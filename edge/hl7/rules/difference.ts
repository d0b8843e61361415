/** The difference of two raw fields: in one repetition, or in one component of it. */
import type { Delimiters } from '../../../shared/hl7/delimiters.ts';

export interface Difference {
  /** Repetition and component, from 1; none if more than one repetition differs, or the field has only one. */
  readonly numbers: readonly number[];
  readonly before: string;
  readonly after: string;
}

export function differenceOf(before: string, after: string, { repetition, component }: Delimiters): Difference {
  const one = onlyDifference(before, after, repetition);
  const [b, a] = one === undefined ? [before, after] : [one.before, one.after];
  if (one === undefined && (before.includes(repetition) || after.includes(repetition)))
    return { numbers: [], before, after };
  const part = onlyDifference(b, a, component);
  const number = one?.number ?? (part === undefined ? undefined : 1);
  const numbers = [number, part?.number].filter((each) => each !== undefined);
  return { numbers, before: part?.before ?? b, after: part?.after ?? a };
}

/** The only piece that differs; undefined if several do, or if there is one piece. A missing piece is empty. */
function onlyDifference(before: string, after: string, separator: string) {
  const [b, a] = [before.split(separator), after.split(separator)];
  const pieces = Math.max(b.length, a.length);
  if (pieces === 1) return undefined;
  let found: { readonly number: number; readonly before: string; readonly after: string } | undefined;
  for (let at = 0; at < pieces; at += 1) {
    const [was, is] = [b[at] ?? '', a[at] ?? ''];
    if (was === is) continue;
    if (found !== undefined) return undefined;
    found = { number: at + 1, before: was, after: is };
  }
  return found;
}
