import { describe, expect, test } from 'vitest';

import { isUuid, uuidv7 } from '../../../shared/uuid.ts';

describe('UUIDv7', () => {
  test('ids of one process ascend within a millisecond, and when the clock is set back', () => {
    const ids = Array.from({ length: 10_000 }, (_, i) => uuidv7(1_790_000_000_000 - (i % 3)));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every(isUuid)).toBe(true);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
