/**
 * Cuts large documents out of a resource while it is patched. Each change of a resource prints and compares it, and a document of
 * 10 MiB would then be in memory many times.
 */
import { isJsonObject, type Json } from '../../../shared/json.ts';

/** Smaller ones stay. */
const MIN_LENGTH = 4096;

const BEFORE = '"data":"';
/** A search for a wrong character needs no memory, unlike a match of all of them. */
const NO_BASE64 = /[^A-Za-z0-9+/=]/;

export interface CutData {
  /** The body with a mark, which is base64 too, instead of each document. */
  readonly body: string;
  /** A value of the patch, with the same marks. */
  readonly cut: (value: Json) => Json;
  /** A text with the documents. */
  readonly withData: (text: string) => string;
  /** False if a document has become the value of another member than `data`, which may have another rule. */
  readonly isPlaced: (text: string) => boolean;
}

const countOf = (text: string, part: string): number => text.split(part).length - 1;

/** @param body members as JSON text @returns undefined without large documents */
export function cutData(body: string): CutData | undefined {
  const marks = new Map<string, string>();
  let left = '';
  let from = 0;
  for (let at = body.indexOf(BEFORE); at >= 0; at = body.indexOf(BEFORE, from)) {
    const start = at + BEFORE.length;
    const end = body.indexOf('"', start);
    const data = body.slice(start, end);
    const isCut = data.length >= MIN_LENGTH && !NO_BASE64.test(data);
    const mark = isCut ? (marks.get(data) ?? crypto.randomUUID().replaceAll('-', '')) : data;
    if (isCut) marks.set(data, mark);
    left += `${body.slice(from, start)}${mark}`;
    from = end;
  }
  if (marks.size === 0) return undefined;
  const cut = (value: Json): Json => {
    if (typeof value === 'string') return value.length < MIN_LENGTH ? value : (marks.get(value) ?? value);
    if (Array.isArray(value)) return value.map(cut);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member)]));
  };
  return {
    body: left + body.slice(from),
    cut,
    // As `join`, which would copy the documents.
    withData: (text) =>
      [...marks].reduce((all, [data, mark]) => all.split(mark).reduce((before, after) => before + data + after), text),
    isPlaced: (text) => [...marks.values()].every((mark) => countOf(text, mark) === countOf(text, `${BEFORE}${mark}"`)),
  };
}
