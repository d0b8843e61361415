import { describe, expect, test } from 'vitest';

import { examplesFor } from '../../../../edge/admin/keys/examples.ts';
import type { KeyRow } from '../../../../edge/admin/keys/statements.ts';
import { unusedKeyRow } from '../../../stack/tools/key-row.ts';
import { configOf } from '../../../stack/tools/test-deps.ts';

describe('programs for a key', () => {
  const key = unusedKeyRow(
    { clientId: 'svc-00000000-0000-4000-8000-000000000000' },
    {
      allowed_scopes: ['system/Patient.read'],
      protocols: ['fhir', 'hl7', 'hl7-mllp'],
      allowed_ips: ['*'],
      hl7_sender_application: 'LAB',
    },
  );
  const all = {
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://id.example',
    INTEGRATION_FHIR_PUBLIC_BASE_URL: 'https://fhir.example',
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: 'https://hl7.example',
    INTEGRATION_HL7_MTTP_DOMAIN: 'mllp.example',
    INTEGRATION_HL7_MTTP_PORT: '2575',
  };
  const titles = (row: KeyRow, endpoints: Record<string, string>) =>
    examplesFor(row, [], configOf(endpoints)).map(({ title }) => title);

  test('exist for the protocols of the key that the deployment offers', () => {
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

  test('over MLLP send the values of the sender filters', () => {
    const text = examplesFor(key, [], configOf(all)).at(-1)?.text ?? '';
    expect(text).toContain('("mllp.example", 2575)');
    expect(text).toContain('|LAB|FACILITY|');
  });
});
