import { expect, test } from 'vitest';

import { explainedAt } from '../../../../edge/admin/requests/explained.ts';
import { FAULT_STATUS } from '../../../../edge/http/fault-status.ts';
import { ErrorsPage } from '../../../../edge/openapi/pages/errors.tsx';
import { printed } from '../../../../edge/openapi/pages/frame.tsx';
import { FHIR_ISSUES } from '../../../../edge/refusals.ts';
import { configOf } from '../../../stack/tools/test-deps.ts';

const REFUSED = {
  id: 'r',
  client_id: 'svc-1',
  key_name: 'Lab',
  surface: 'fhir',
  answer: '404',
  code: 'not-found',
  reason: 'there is none',
  requests: 1,
  first_at: '2026-01-01T00:00:00Z',
  last_at: '2026-01-01T00:00:00Z',
  place: '',
  request_id: 'r-1',
  source_address: '192.0.2.1',
  quarters: '[]',
  is_cut: false,
  is_by_request_id: false,
} as const;

test('the reference has a place for every failure that the log of requests leads to', async () => {
  const at = configOf({ ADMIN_PUBLIC_BASE_URL: 'https://admin.example/gw' });
  const page = await printed(ErrorsPage({ site: { config: at, baseUrl: 'https://admin.example/gw' } }));
  const leadsTo = (answer: string, code: string) => explainedAt(at, { ...REFUSED, answer, code }).href;
  expect(leadsTo('404', 'not-found')).toBe('/gw/docs/errors#issue-not-found');
  expect(leadsTo('412', 'precondition-failed')).toBe('/gw/docs/errors#status-412');
  expect(leadsTo('429', 'throttled')).toBe('/gw/docs/errors#status-429');
  expect(leadsTo('AE', 'exception')).toBe('/gw/docs/mllp#errors');
  const codes = Object.keys(FHIR_ISSUES).map((code) => leadsTo('400', code));
  const statuses = Object.values(FAULT_STATUS).map((status) => leadsTo(String(status), 'throttled'));
  for (const href of [...codes, ...statuses, leadsTo('500', 'exception')].filter((each) => each.includes('/errors#')))
    expect(page).toContain(`id="${href.split('#')[1]}"`);
});
