/** The patterns of conditions: `*` is any text, `?` one character, `#` one digit. A pattern is not a regular expression. */

export const MAX_PATTERN_CHARACTERS = 100;
/** A longer text matches no pattern. */
export const MAX_MATCHED_CHARACTERS = 4000;

export interface Match {
  readonly matches: boolean;
  /** The comparisons of characters. */
  readonly compared: number;
}

/**
 * Compiles a pattern. The pieces between `*` are found from left to right, and none is searched again. So a match needs at
 * most as many comparisons as the product of both lengths.
 */
export function compilePattern(pattern: string): (text: string) => Match {
  const [first = '', ...pieces] = pattern.split('*');
  const last = pieces.pop();
  return (text) => {
    if (text.length > MAX_MATCHED_CHARACTERS) return { matches: false, compared: 0 };
    let compared = 0;
    const isAt = (piece: string, at: number): boolean => {
      for (let n = 0; n < piece.length; n += 1) {
        compared += 1;
        if (!isLike(piece.charCodeAt(n), text.charCodeAt(at + n))) return false;
      }
      return true;
    };
    const result = (matches: boolean): Match => ({ matches, compared });
    if (last === undefined) return result(text.length === first.length && isAt(first, 0));
    if (text.length < first.length + last.length || !isAt(first, 0)) return result(false);
    const end = text.length - last.length;
    let at = first.length;
    for (const piece of pieces) {
      while (at + piece.length <= end && !isAt(piece, at)) at += 1;
      if (at + piece.length > end) return result(false);
      at += piece.length;
    }
    return result(isAt(last, end));
  };
}

const [ANY, DIGIT] = ['?', '#'].map((character) => character.charCodeAt(0));

const isLike = (pattern: number, code: number): boolean =>
  pattern === code || pattern === ANY || (pattern === DIGIT && code >= 0x30 && code <= 0x39);
