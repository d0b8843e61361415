/** Subscriptions are in the API reference only while the deployment has them. */
import { expect, test } from 'vitest';

import { partnerDocument } from '../../../edge/openapi/document.ts';
import { testDeps } from '../../stack/tools/test-deps.ts';

test.each([
  ['on', true],
  ['off', false],
])('FHIR_SUBSCRIPTIONS=%s', (value, isIn) => {
  const { config } = testDeps({ env: { FHIR_SUBSCRIPTIONS: value } });
  expect(JSON.stringify(partnerDocument(config)).includes('/fhir/Subscription')).toBe(isIn);
});
