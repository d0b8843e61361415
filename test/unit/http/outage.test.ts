/** An outage is logged as an error once when it begins, and again when it ends. */
import { expect, test } from 'vitest';

import { createOutage } from '../../../edge/http/outage.ts';
import type { LogEntry } from '../../../shared/log.ts';

function watched() {
  const lines: LogEntry[] = [];
  let now = 0;
  const outage = createOutage(
    'database',
    (entry) => lines.push(entry),
    () => now,
  );
  return {
    lines,
    /** `x` fails, `.` is answered, a second each; a digit waits so many minutes. */
    play(what: string) {
      for (const step of what) {
        if (step === 'x') outage.failed();
        else if (step === '.') outage.answered();
        else now += Number(step) * 60_000;
        now += 1_000;
      }
      return lines.map(({ level, event }) => `${level} ${event.replace('dependency.', '')}`);
    },
  };
}

test.each([
  ['nothing', '....', []],
  ['a cut request among others, twice', '.x..x.x.', []],
  ['the night', 'xxxxxxxx', ['error away']],
  ['an outage that ends', '.xxx..', ['error away', 'info back']],
  [
    'an outage that returns soon',
    'xx.xx.xx.',
    ['error away', 'info back', 'warn away', 'info back', 'warn away', 'info back'],
  ],
  ['one of the next night', 'xx.99xx.', ['error away', 'info back', 'error away', 'info back']],
  ['a slow night, a request every nine minutes', 'x9x9x9.', ['error away', 'info back']],
])('%s', (_, what, expected) => {
  expect(watched().play(what)).toEqual(expected);
});

test('the log has the unavailable part, the number of failures and the start', () => {
  const database = watched();
  database.play('.xxx.');
  expect(database.lines).toEqual([
    { level: 'error', event: 'dependency.away', subject: 'database' },
    { level: 'info', event: 'dependency.back', subject: 'database', count: 3, durationMs: 3_000 },
  ]);
});
