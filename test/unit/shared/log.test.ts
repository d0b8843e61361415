import { expect, test } from 'vitest';

import { logLine } from '../../../shared/log.ts';

test('a log line keeps an error without its message, which may repeat patient data', () => {
  const error = new TypeError('Doe^John', { cause: new Error('1980-01-01') });
  const line = logLine(new Date(0), { level: 'error', event: 'bug', requestId: 'r1', error });
  expect(line).toContain('"class":"TypeError"');
  expect(line).toContain('"requestId":"r1"');
  expect(line).not.toMatch(/Doe|1980/);
});
