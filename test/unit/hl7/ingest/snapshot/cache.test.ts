/** The cache's contents after a message was stored: they equal the stored versions. */
import { expect, test } from 'vitest';

import { createSnapshotCache, type StoredMessage } from '../../../../../edge/hl7/ingest/snapshot/cache.ts';
import type { MatchRow } from '../../../../../edge/store/hl7-snapshot.ts';
import { toWrite } from '../../../../../edge/store/resource.ts';

const ID = '00000000-0000-7000-8000-000000000001';
const PATIENT: MatchRow = {
  role: 'patient',
  key: '',
  type: 'Patient',
  id: ID,
  version: 3,
  last_updated: '2026-01-01T00:00:00.000Z',
  meta: '',
  body: '"gender":"female"',
  contributions: null,
  asked: null,
  state: 'a',
};
const NUMBER: MatchRow = {
  ...PATIENT,
  role: 'number',
  key: JSON.stringify(['name:A', '1', 'MR', true, false]),
  version: 0,
  body: '',
};
const WRITE = toWrite({ resourceType: 'Patient', id: ID, gender: 'male' }, ID, 'update', [3]);

const lookup = { identifierValues: ['1'], keys: [] };

/** The patient's content in the next snapshot. @param given of a message that was stored */
function contentAfter(version: number, given: Partial<StoredMessage['effects']>): string | undefined {
  const cache = createSnapshotCache();
  const rows = [{ ...PATIENT, version, body: '' }, NUMBER];
  const effects = { writes: [], merges: [], ...given };
  cache.keepStored({ site: 'site', lookup, before: [PATIENT], effects, rows }, 0);
  return cache.matches('site', lookup, 0)?.find(({ role }) => role === 'patient')?.body;
}

test.each([
  ['the loaded content for an unchanged version', 3, {}, '"gender":"female"'],
  ['the loaded content when a write changed nothing', 3, { writes: [WRITE] }, '"gender":"female"'],
  ['the written content for the next version', 4, { writes: [WRITE] }, '"gender":"male"'],
  ['unknown when another writer made the next version', 4, {}, undefined],
  ['unknown when another version follows the write', 5, { writes: [WRITE] }, undefined],
  ['unknown after a merge', 4, { writes: [WRITE], merges: [{}] }, undefined],
])('the content is %s', (_, version, effects, content) => {
  expect(contentAfter(version, effects)).toBe(content);
});
