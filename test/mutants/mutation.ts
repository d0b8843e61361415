/** A range of a text and the text that replaces it. */
export interface Edit {
  /** The kind of change, such as `skip guard` or `drop site condition`. */
  readonly operator: string;
  /** UTF-16 offsets in the file; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** One defect that a program can seed. */
export interface Mutation extends Edit {
  readonly file: string;
  /** The function, constant, table or policy that the range is in. */
  readonly symbol: string;
}

export const applyMutation = (text: string, { start, end, replacement }: Mutation): string =>
  text.slice(0, start) + replacement + text.slice(end);

/** The line of an offset, counted from 1. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** `edge/a.ts:12 checkAge, skip guard: if (age > 1)`. */
export function describeMutation(text: string, { file, symbol, operator, start, end, replacement }: Mutation): string {
  const short = (part: string): string => {
    const line = part.replace(/\s+/g, ' ').trim();
    return line.length > 60 ? `${line.slice(0, 57)}...` : line;
  };
  return `${file}:${lineAt(text, start)} ${symbol}, ${operator}: ${short(text.slice(start, end))} -> ${short(replacement)}`;
}
