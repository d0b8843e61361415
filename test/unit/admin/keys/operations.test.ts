/** A JWKS URI is looked at while it is typed as often as a site may, and one site does not use up another's looks. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';

import { addOperations } from '../../../../edge/admin/api/operation.ts';
import { keyOperations } from '../../../../edge/admin/keys/operations.ts';
import type { Access } from '../../../../edge/admin/staff/access.ts';
import type { Permission } from '../../../../edge/permissions.ts';
import type { GatewayEnv } from '../../../../edge/http/surface.ts';
import { Fault } from '../../../../shared/fault.ts';
import { testDeps } from '../../../stack/tools/test-deps.ts';

test('rejects too many checks of one site with 429 before a fetch; another site can still check', async () => {
  let fetches = 0;
  const counted = new Map<string, number>();
  const deps = testDeps({
    allow: (bucket, key) => {
      counted.set(`${bucket} ${key}`, (counted.get(`${bucket} ${key}`) ?? 0) + 1);
      return (counted.get(`${bucket} ${key}`) ?? 0) <= 2;
    },
    fetch: async () => {
      fetches += 1;
      return new Response('{"keys":[]}');
    },
    resolveHost: async () => ['93.184.216.34'],
  });
  const access = (site: string): Pick<Access, 'api'> => {
    const actor = { subject: 's', name: 'S', site, permissions: new Set<Permission>(['site.api_keys.create']) };
    const auditActor = { kind: 'person', name: 's', clientId: null, address: null, requestId: 'r' } as const;
    return { api: async () => ({ actor, auditActor, database: deps.database }) };
  };
  const statusOf = async (site: string): Promise<number> => {
    const app = new Hono<GatewayEnv>();
    addOperations(app, access(site), keyOperations(deps));
    app.onError((error, c) => c.text('', error instanceof Fault && error.kind === 'throttled' ? 429 : 500));
    const answer = await app.request('/admin/api/api-keys/check-jwks-uri', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jwksUri: 'https://keys.example.com/jwks.json' }),
    });
    return answer.status;
  };
  expect([await statusOf('a'), await statusOf('a'), await statusOf('a')]).toEqual([200, 200, 429]);
  expect(fetches).toBe(2);
  expect(await statusOf('b')).toBe(200);
});
