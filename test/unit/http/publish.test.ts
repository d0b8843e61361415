import { expect, test } from 'vitest';

import { publish } from '../../../edge/http/publish.ts';
import { createSurface } from '../../../edge/http/surface.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

function surface() {
  const app = createSurface(testDeps({ now: () => 0 }), 'oauth', '');
  const notAllowed = (allow: string) => () => new Response(null, { status: 405, headers: { Allow: allow } });
  publish(app, '/document', () => Response.json({ a: 1 }), notAllowed);
  return app;
}

test('any origin may read a public document, also as a 304', async () => {
  const first = await surface().request('/document');
  expect(first.headers.get('access-control-allow-origin')).toBe('*');
  const headers = { 'If-None-Match': first.headers.get('etag') ?? '' };
  const again = await surface().request('/document', { headers });
  expect([again.status, again.headers.get('access-control-allow-origin')]).toEqual([304, '*']);
});

test('it is read, and nothing else', async () => {
  const { status, headers } = await surface().request('/document', { method: 'POST' });
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});
