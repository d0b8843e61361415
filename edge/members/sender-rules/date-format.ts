/** Local formats of dates, such as `DD.MM.YYYY HH:mm`, and their conversion to an HL7 timestamp (HL7 v2.5.1 §2.A.22). */

/** In the sequence of a timestamp; each needs the ones before it. */
const TOKENS = ['YYYY', 'MM', 'DD', 'HH', 'mm', 'ss'] as const;
type Token = (typeof TOKENS)[number];

const MAX_FORMAT_CHARACTERS = 50;
const PIECES = /YYYY|MM|DD|HH|mm|ss|[^]/g;

const isToken = (piece: string): piece is Token => TOKENS.some((token) => token === piece);
const piecesOf = (format: string): string[] => format.match(PIECES) ?? [];

/** @returns the fault of a format */
export function dateFormatFault(format: string): string | undefined {
  if (format.length > MAX_FORMAT_CHARACTERS) return `has more than ${MAX_FORMAT_CHARACTERS} characters`;
  const pieces = piecesOf(format);
  const tokens = pieces.filter(isToken);
  const letter = pieces.find((piece) => !isToken(piece) && 'YMDHhms'.includes(piece));
  if (letter !== undefined) return `${letter} is not a part of a date: use ${TOKENS.join(', ')}`;
  if (new Set(tokens).size !== tokens.length) return 'must have each part once';
  if (tokens.length === 0 || TOKENS.slice(0, tokens.length).some((token) => !tokens.includes(token)))
    return `must have YYYY, and before each part the larger ones: ${TOKENS.join(', ')}`;
  return undefined;
}

const DIGITS = /^[0-9]+$/;

/** Compiles a format that `dateFormatFault` accepts. The result is undefined for a text that does not fit. */
export function compileDateFormat(format: string): (text: string) => string | undefined {
  const pieces = piecesOf(format);
  const length = format.length;
  return (text) => {
    if (text.length !== length) return undefined;
    const read = new Map<string, string>();
    let at = 0;
    for (const piece of pieces) {
      const part = text.slice(at, at + piece.length);
      at += piece.length;
      if (isToken(piece) ? !DIGITS.test(part) : part !== piece) return undefined;
      if (isToken(piece)) read.set(piece, part);
    }
    return isTime(read) ? TOKENS.map((token) => read.get(token) ?? '').join('') : undefined;
  };
}

function isTime(read: ReadonlyMap<string, string>): boolean {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = TOKENS.map((token) => {
    const digits = read.get(token);
    return digits === undefined ? undefined : Number(digits);
  });
  const isDay = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  return isDay && hour < 24 && minute < 60 && second < 60;
}

/** Date.UTC reads a year below 100 as one of the last century; the calendar repeats each 400 years. */
const daysIn = (year: number, month: number): number => new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
