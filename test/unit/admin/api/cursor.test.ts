import { describe, expect, test } from 'vitest';

import { fromCursor, toCursor, toList, UUID_PART } from '../../../../edge/admin/api/cursor.ts';

describe('cursors', () => {
  const id = '0192f0c1-0000-7000-8000-000000000000';

  test('are read as they were made, and nothing else is', () => {
    expect(fromCursor(toCursor([id]), UUID_PART)).toEqual([id]);
    expect(fromCursor(undefined, UUID_PART)).toBeNull();
    const bad = ['x', toCursor([]), toCursor([id, id]), toCursor(["' or 1=1"]), `${toCursor([id])}=`, 'bnVsbA'];
    for (const cursor of bad) expect(() => fromCursor(cursor, UUID_PART), cursor).toThrow(/cursor/);
  });

  test('the last page of a list has no cursor', () => {
    const list = (rows: number[]) => toList(rows, 2, (row) => [String(row)]);
    expect(list([1, 2])).toEqual({ items: [1, 2], next: null });
    expect(list([1, 2, 3])).toEqual({ items: [1, 2], next: toCursor(['2']) });
    expect(list([])).toEqual({ items: [], next: null });
  });
});
