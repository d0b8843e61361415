/** Cursors of lists: the position at which the next page begins, opaque to clients. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { decodeBase64url, encodeBase64url } from '../../../shared/base64url.ts';
import { isClientId } from '../../../shared/oauth/client-id.ts';
import { isInstant } from './instant.ts';

export function toCursor(position: readonly string[]): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify(position)));
}

const malformed = () =>
  new Fault('malformed', 'cursor is not valid: send the `next` of an earlier page', {
    issues: [{ code: 'invalid', message: 'must be the `next` of an earlier page', at: 'cursor' }],
  });

type Part = Pick<RegExp, 'test'>;

/**
 * Reads the position of a cursor; null for the first page.
 *
 * @param shape a pattern for each part of the position
 * @throws Fault `malformed` for a text that toCursor did not make
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
export const CLIENT_ID_PART: Part = { test: isClientId };
export const NUMBER_PART = /^\d{1,9}$/;

export interface List<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/**
 * A page of rows.
 *
 * @param rows up to limit + 1; the last is not shown, it says that there is a next page
 * @param position the position of a row in the order of the list
 */
export function toList<Row>(rows: readonly Row[], limit: number, position: (row: Row) => readonly string[]): List<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last !== undefined ? toCursor(position(last)) : null;
  return { items: shown, next };
}

/** Maps each row of a list to an item of the answer. */
export const viewList = <Row, T>({ items, next }: List<Row>, view: (row: Row) => T): List<T> => ({
  items: items.map(view),
  next,
});
