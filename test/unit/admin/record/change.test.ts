import { expect, test } from 'vitest';

import { KEY_MEMBERS } from '../../../../edge/members/api-key.ts';
import { viewChange } from '../../../../edge/admin/record/change.ts';

test('a change names the members that differ', () => {
  const record = { name: 'A', status: 'active', jwks: '{"keys":[]}', allowed_scopes: ['x'], site_id: 'hidden' };
  const change = viewChange(KEY_MEMBERS, {
    version: 2,
    at: '2026-11-21T00:00:00.000Z',
    by: 'someone',
    before: JSON.stringify(record),
    after: JSON.stringify({ ...record, name: 'B', allowed_scopes: ['x', 'y'] }),
  });
  expect(change).toMatchObject({
    changed: ['name', 'allowedScopes'],
    before: { name: 'A', jwks: { keys: [] } },
    after: { name: 'B' },
  });
  expect(JSON.stringify(change)).not.toContain('hidden');
});
