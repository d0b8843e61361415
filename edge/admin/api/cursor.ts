/** Cursors of lists: where the next page begins, opaque to whoever passes them on. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { decodeBase64url, encodeBase64url } from '../../../shared/base64url.ts';
import { isInstant } from './instant.ts';

export function toCursor(position: readonly string[]): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify(position)));
}

const malformed = () =>
  new Fault('malformed', 'the cursor is not one of ours', {
    issues: [{ code: 'invalid', message: 'must be the `next` of an earlier page', at: 'cursor' }],
  });

/** One part of a position. */
type Part = Pick<RegExp, 'test'>;

/**
 * @param shape what each part of the position looks like
 * @throws Fault `malformed` for anything that toCursor has not made
 */
export function fromCursor(cursor: string | undefined, ...shape: readonly Part[]): string[] | null {
  if (cursor === undefined || cursor === '') return null;
  const bytes = decodeBase64url(cursor);
  if (bytes === undefined) throw malformed();
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw malformed();
  }
  const { data } = z.array(z.string()).length(shape.length).safeParse(parsed);
  if (data === undefined || !shape.every((part, at) => part.test(data[at] ?? ''))) throw malformed();
  return data;
}

export const UUID_PART = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const INSTANT_PART: Part = { test: isInstant };
export const CLIENT_ID_PART = /^svc-[0-9a-f-]{36}$/;
export const NUMBER_PART = /^\d{1,9}$/;

export interface List<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/**
 * A page from rows that are one more than asked for, the last only telling that there is a next page.
 *
 * @param position where a row stands in the list's order
 */
export function toList<Row>(rows: readonly Row[], limit: number, position: (row: Row) => readonly string[]): List<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last !== undefined ? toCursor(position(last)) : null;
  return { items: shown, next };
}

/** The same list with each row as it is answered. */
export const viewList = <Row, T>({ items, next }: List<Row>, view: (row: Row) => T): List<T> => ({
  items: items.map(view),
  next,
});
