/** What administrators read: hints for every refusal, HL7's own names, changes of a key, programs for a key. */
import { describe, expect, test } from 'vitest';

import { explainedAt } from '../../../edge/admin/requests/explained.ts';
import { FAULT_STATUS } from '../../../edge/http/fault-status.ts';
import { ErrorsPage } from '../../../edge/openapi/pages/errors.tsx';
import { printed } from '../../../edge/openapi/pages/frame.tsx';
import { examplesFor } from '../../../edge/admin/keys/examples.ts';
import { fieldName, segmentName } from '../../../edge/admin/messages/hl7-names.ts';
import { newKey } from '../../../edge/admin/keys/keys.ts';
import { KEY_MEMBERS } from '../../../edge/admin/keys/record.ts';
import type { KeyRow } from '../../../edge/admin/keys/statements.ts';
import { toRecord } from '../../../edge/admin/record/member.ts';
import { viewChange } from '../../../edge/admin/record/change.ts';
import { viewAck, viewMessage } from '../../../edge/admin/messages/segments.ts';
import { readConfig } from '../../../edge/config.ts';
import { FHIR_ISSUES, hintFor, MLLP_REFUSALS, TOKEN_REFUSALS } from '../../../edge/refusals.ts';

test.each([...Object.keys(TOKEN_REFUSALS), ...Object.keys(MLLP_REFUSALS)])(
  'a refusal by %s comes with a hint',
  (code) => {
    expect(hintFor(code)).toMatch(/^[A-Z].*\.$/);
  },
);

const config = (endpoints: Record<string, string>) =>
  readConfig({
    DATABASE_URL: 'postgres://x',
    TOKEN_SIGNING_KEYS: '{"keys":[{"kty":"EC","crv":"P-256","x":"","y":"","d":"","kid":"k"}]}',
    GATEWAY_SECRET: 'x'.repeat(43),
    ...endpoints,
  });

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
  const at = config({ ADMIN_PUBLIC_BASE_URL: 'https://admin.example/gw' });
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

test.each(['', 'constructor', 'x'])('%j has no hint', (code) => {
  expect(hintFor(code)).toBeNull();
});

test.each([
  ['MSH', 10, 'Message Control ID'],
  ['MSH', 18, 'Character Set'],
  ['PID', 3, 'Patient Identifier List'],
  ['PID', 30, 'Patient Death Indicator'],
  ['PV1', 44, 'Admit Date/Time'],
  ['OBR', 25, 'Result Status'],
  ['OBX', 11, 'Observation Result Status'],
  ['OBX', 14, 'Date/Time of the Observation'],
  ['DG1', 20, 'Diagnosis Identifier'],
  ['PR1', 19, 'Procedure Identifier'],
  ['IAM', 7, 'Allergy Unique Identifier'],
  ['TXA', 12, 'Unique Document Number'],
  ['TXA', 19, 'Document Availability Status'],
  ['MRG', 1, 'Prior Patient Identifier List'],
  ['ERR', 8, 'User Message'],
  ['MSA', 2, 'Message Control ID'],
  ['PID', 99, null],
  ['ZZZ', 1, null],
  ['constructor', 1, null],
])('%s-%i is %s', (segment, field, name) => {
  expect(fieldName(segment, field)).toBe(name);
});

test('a Z segment is a local one, an unknown one has no name', () => {
  expect(segmentName('ZPI')).toBe('Local segment');
  expect(segmentName('XYZ')).toBeNull();
});

describe('a message', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  test('is a table of what was sent, MSH counted as the standard counts it', () => {
    const { segments, text, problem } = viewMessage(bytes('MSH|^~\\&|A||B\rPID|1||X^^^Y~Z\r'), null);
    expect(problem).toBeNull();
    expect(text).toBe('MSH|^~\\&|A||B\nPID|1||X^^^Y~Z');
    expect(segments[0]?.fields.map(({ path, value }) => `${path}=${value}`)).toEqual([
      'MSH-1=|',
      'MSH-2=^~\\&',
      'MSH-3=A',
      'MSH-5=B',
    ]);
    expect(segments[1]?.fields.at(-1)).toMatchObject({
      path: 'PID-3',
      name: 'Patient Identifier List',
      value: 'X^^^Y~Z',
      repetitions: [[{ value: 'X' }, { value: 'Y' }], [{ value: 'Z' }]],
    });
  });

  test('is decoded by the key’s set, and one that is none says why', () => {
    const latin = Uint8Array.from('MSH|^~\\&|M\u00fcller', (character) => character.charCodeAt(0));
    expect(viewMessage(latin, 'ISO 8859-1').text).toContain('Müller');
    expect(viewMessage(bytes('hello'), null)).toMatchObject({
      segments: [],
      problem: expect.any(String),
      text: 'hello',
    });
    expect(viewAck(null)).toBeNull();
  });
});

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

describe('programs for a key', () => {
  const key: KeyRow = {
    client_id: 'svc-00000000-0000-4000-8000-000000000000',
    ...toRecord(KEY_MEMBERS, newKey.parse({ name: 'A', tokenTtlSeconds: 300 })),
    allowed_scopes: ['system/Patient.read'],
    protocols: ['fhir', 'hl7', 'hl7-mllp'],
    allowed_ips: ['*'],
    hl7_sender_application: 'LAB',
    version: 1,
    created_at: '',
    updated_at: '',
    last_refusal: null,
    name_key: '',
    last_used: null,
    tokens_today: 0,
    requests_today: 0,
    messages_today: 0,
  };
  const all = {
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://id.example',
    INTEGRATION_FHIR_PUBLIC_BASE_URL: 'https://fhir.example',
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: 'https://hl7.example',
    INTEGRATION_HL7_MTTP_DOMAIN: 'mllp.example',
    INTEGRATION_HL7_MTTP_PORT: '2575',
  };
  const titles = (row: KeyRow, endpoints: Record<string, string>) =>
    examplesFor(row, [], config(endpoints)).map(({ title }) => title);

  test('are there for what the key may do and the deployment has', () => {
    expect(titles(key, all)).toEqual([
      'curl and openssl: the FHIR API',
      'Node with jose: the FHIR API',
      'Python with PyJWT: the FHIR API',
      'curl and openssl: HL7 over HTTP',
      'Node with jose: HL7 over HTTP',
      'Python with PyJWT: HL7 over HTTP',
      'Python: a message over MLLP',
    ]);
    expect(titles({ ...key, protocols: ['fhir'] }, all)).toHaveLength(3);
    expect(titles({ ...key, allowed_audiences: ['svc-hl7-http'] }, all)).toHaveLength(4);
    expect(titles(key, {})).toEqual([]);
  });

  test('over MLLP send what the sender filters want', () => {
    const text = examplesFor(key, [], config(all)).at(-1)?.text ?? '';
    expect(text).toContain('("mllp.example", 2575)');
    expect(text).toContain('|LAB|FACILITY|');
  });
});
