/**
 * The text that stands for a large document in a stored message (edge/hl7/ingest/cut-documents.ts). Such a message has no other
 * U+0001, and its delimiters are not letters, digits, points, hyphens or underscores.
 */

export interface DocumentToken {
  /** The hash of the base64 text, base64url. */
  readonly sha256: string;
  /** The bytes of the decoded document. */
  readonly size: number;
  /** The characters of a line of base64 in the message; 0 for one line. */
  readonly width: number;
  /** The text between two lines, ASCII. */
  readonly separator: string;
}

// oxlint-disable-next-line no-control-regex
const TOKEN = /\u0001([A-Za-z0-9_-]{43})\.(\d{1,9})\.(\d{1,9})\.([0-9a-f]{0,64})\u0001/g;

export function documentToken({ sha256, size, width, separator }: DocumentToken): string {
  const hex = Array.from(separator, (c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return `\u0001${sha256}.${size}.${width}.${hex}\u0001`;
}

/** The tokens of a stored message. */
export const documentTokens = (text: string): { readonly token: string; readonly sha256: string }[] =>
  Array.from(text.matchAll(TOKEN), ([token, sha256 = '']) => ({ token, sha256 }));

/** Puts the documents back into the text of a message. @param base64Of by hash */
export const withDocuments = (text: string, base64Of: ReadonlyMap<string, string>): string =>
  text.replaceAll(TOKEN, (token, sha256: string, _size, width: string, separator: string) => {
    const base64 = base64Of.get(sha256);
    if (base64 === undefined || width === '0') return base64 ?? token;
    const lines: string[] = [];
    for (let at = 0; at < base64.length; at += Number(width)) lines.push(base64.slice(at, at + Number(width)));
    return lines.join(separator.replaceAll(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16))));
  });

const MAX_FILLER = 1000;

/** The text of a message with base64 of zeros instead of each document, 1,000 characters at most. */
export const withFillers = (text: string): string =>
  text.replaceAll(TOKEN, (_token, _sha256, size: string) =>
    'A'.repeat(Math.min(MAX_FILLER, Math.ceil(Number(size) / 3) * 4)),
  );

/** The text of a message with a short note instead of each document. */
export const withNotes = (text: string): string =>
  text.replaceAll(TOKEN, (_token, _sha256, size: string) => `(document of ${size} bytes)`);
