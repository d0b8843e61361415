/** The permission of each operation of `/admin/api`: the complete list, so that every change of it is deliberate. */
import { expect, test } from 'vitest';

import { adminOperations } from '../../../../edge/admin/routes.ts';
import { createKey } from '../../../../edge/admin/keys/keys.ts';
import { requirePermission } from '../../../../edge/admin/staff/actor.ts';
import { changeSite } from '../../../../edge/admin/settings/site.ts';
import type { Workbench } from '../../../../edge/admin/workbench/workbench.ts';
import { testDeps } from '../../../stack/tools/test-deps.ts';

const deps = testDeps();

test('every operation and its permission', () => {
  const operations = adminOperations(deps, {} as Workbench);
  const rights = operations.map(
    ({ method, path, permission }) => `${method} ${path}: ${[permission].flat().join(' or ')}`,
  );
  expect(rights.toSorted()).toEqual([
    'get /alerts/webhook: site.settings.update',
    'get /alerts: site.endpoints.read',
    'get /api-keys/{clientId}/changes: site.api_keys.read',
    'get /api-keys/{clientId}/check-list: site.api_keys.read',
    'get /api-keys/{clientId}/links: site.api_keys.read',
    'get /api-keys/{clientId}/refusals: site.api_keys.read',
    'get /api-keys/{clientId}/rules/trial: site.rules.read',
    'get /api-keys/{clientId}/rules/{version}: site.rules.read',
    'get /api-keys/{clientId}/rules: site.rules.read',
    'get /api-keys/{clientId}: site.api_keys.read',
    'get /api-keys: site.api_keys.read',
    'get /attention: site.messages.read',
    'get /audit/sums: site.audit.read',
    'get /audit: site.audit.read',
    'get /authority-aliases: site.messages.read',
    'get /code-misses: site.rules.read',
    'get /code-tables/{id}/rows: site.rules.read',
    'get /code-tables/{id}: site.rules.read',
    'get /code-tables: site.rules.read',
    'get /endpoints: site.endpoints.read',
    'get /export: site.settings.read',
    'get /feeds/{clientId}/connections: site.endpoints.read',
    'get /feeds: site.endpoints.read',
    'get /health: site.endpoints.read',
    'get /merges/{id}: site.patients.unmerge',
    'get /merges: site.patients.unmerge',
    'get /messages/{id}/ticket-copy: site.messages.read',
    'get /messages/{id}: site.messages.read',
    'get /messages: site.messages.read',
    'get /people: site.sessions.end',
    'get /replays/{id}: site.messages.replay',
    'get /replays: site.messages.replay',
    'get /requests: site.api_keys.read',
    'get /sessions: site.sessions.end',
    'get /sidecars: site.endpoints.read',
    'get /signing-keys: gateway.operate',
    'get /site/changes: site.settings.read',
    'get /site: site.settings.read',
    'get /subscriptions/{id}: site.endpoints.read',
    'get /subscriptions: site.endpoints.read',
    'get /unmapped-names: site.messages.read',
    'get /usage: site.endpoints.read',
    'get /{type}/{id}/lineage: site.messages.read',
    'patch /api-keys/{clientId}: site.api_keys.update or site.api_keys.disable',
    'patch /site: site.settings.update',
    'post /alerts/webhook/test: site.settings.update',
    'post /alerts/{id}/acknowledge: site.alerts.update',
    'post /alerts/{id}/silence: site.alerts.update',
    'post /alerts/{id}/unsilence: site.alerts.update',
    'post /api-keys/check-jwks-uri: site.api_keys.create or site.api_keys.update',
    'post /api-keys/{clientId}/links/{id}/revoke: site.api_keys.update',
    'post /api-keys/{clientId}/links: site.api_keys.update',
    'post /api-keys/{clientId}/rules/release: site.rules.write',
    'post /api-keys/{clientId}/rules/trial/stop: site.rules.write',
    'post /api-keys/{clientId}/rules/trial: site.rules.write',
    'post /api-keys: site.api_keys.create',
    'post /apply: site.settings.read',
    'post /attention/{id}/dismiss: site.settings.update',
    'post /attention/{id}/reopen: site.settings.update',
    'post /authority-aliases/decide: site.settings.update',
    'post /code-tables/{id}/delete: site.rules.write',
    'post /code-tables/{id}/import: site.rules.write',
    'post /code-tables/{id}/release: site.rules.write',
    'post /code-tables/{id}/rename: site.rules.write',
    'post /code-tables/{id}/rows: site.rules.write',
    'post /code-tables: site.rules.write',
    'post /merges/{id}/undo: site.patients.unmerge',
    'post /messages/{id}/replay: site.messages.replay',
    'post /plan: site.settings.read',
    'post /replays/{id}/resume: site.messages.replay',
    'post /replays/{id}/stop: site.messages.replay',
    'post /replays: site.messages.replay',
    'post /search: site.messages.read or site.api_keys.read',
    'post /sessions/end: site.sessions.end',
    'post /sessions/{id}/end: site.sessions.end',
    'post /subscriptions/{id}/delete: site.api_keys.update',
    'post /subscriptions/{id}/pause: site.api_keys.update',
    'post /subscriptions/{id}/resend: site.api_keys.update',
    'post /subscriptions/{id}/resume: site.api_keys.update',
    'post /subscriptions/{id}/test: site.api_keys.update',
    'post /subscriptions: site.api_keys.update',
    'post /workbench/assertion: site.api_keys.read',
    'post /workbench/message: site.messages.read',
    'post /workbench/resource: site.api_keys.read',
    'put /api-keys/{clientId}/rules: site.rules.write',
  ]);
});

test('a permission is required; of several any is enough', () => {
  const actor = { subject: 'a', name: 'A', site: 's', permissions: new Set(['site.api_keys.disable'] as const) };
  expect(() => requirePermission(actor, 'site.api_keys.read')).toThrow(/needs the permission site\.api_keys\.read/);
  expect(() => requirePermission(actor, ['site.api_keys.read', 'site.messages.read'])).toThrow(
    / or site\.messages\.read/,
  );
  expect(() => requirePermission(actor, 'site.api_keys.disable')).not.toThrow();
  expect(() => requirePermission(actor, ['site.api_keys.update', 'site.api_keys.disable'])).not.toThrow();
});

test('creating a key and changing settings check the permission themselves, because pages call them too', async () => {
  const actor = {
    subject: 'ada',
    name: 'Ada',
    site: '00000000-0000-4000-8000-000000000001',
    permissions: new Set(['site.api_keys.read', 'site.api_keys.update'] as const),
  };
  await expect(createKey(deps, actor, {})).rejects.toMatchObject({ kind: 'forbidden' });
  await expect(changeSite(deps.database, actor, [], {})).rejects.toMatchObject({ kind: 'forbidden' });
});
