/** `npm run audit`: what it prints, and that who ran it is on record. */
import { beforeAll, expect, test } from 'vitest';

import { createHl7Site } from '../stack/tools/hl7-site.ts';
import { runProgram } from '../stack/tools/command-line.ts';
import { msh } from '../stack/tools/hl7-text.ts';

const site = await createHl7Site();
beforeAll(async () => {
  await site.send(`${msh('ADT^A04')}\nPID|1||E-1^^^HOSP^MR||Archive^Ada`);
});

const audit = (...words: string[]) => runProgram('audit', words, { DATABASE_URL: site.db.ownerUrl });

test('prints an AuditEvent for each row of the time; the next run lists this run', async () => {
  const range = ['--from', '2020-01-01', '--to', '2100-01-01T00:00:00Z', '--site', site.site];
  const first = (await audit(...range)).stdout.trim().split('\n');
  expect(first.map((line) => JSON.parse(line))).toMatchObject([
    { resourceType: 'AuditEvent', action: 'C', agent: [{ who: { identifier: { value: site.clientId } } }] },
  ]);
  const { stdout } = await audit(...range);
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect(stdout).toContain('Audit Log Used');
  expect((await audit('--from', '2020-01-01', '--to', '2020-01-02')).stdout).toBe('');
});

test.each([
  [['--from', 'yesterday', '--to', '2026-01-01'], /--from must be a date/],
  [['--from', '2026-01-01', '--to', '2026-02-30'], /--to must be a date/],
  [['--from', '2026-02-01', '--to', '2026-01-01'], /--from must be before --to/],
  [['--from', '2026-01-01', '--to', '2026-01-02', '--site', 'none'], /the site none does not exist/],
  [['--from', '2026-01-01', '--from', '2026-02-01', '--to', '2026-03-01'], /--from is given more than once/],
])('%j is rejected with an explanation', async (words, said) => {
  expect(await audit(...words)).toMatchObject({ code: 1, stderr: expect.stringMatching(said) });
});

test('the gateway’s login, which sees no site, is rejected instead of an empty archive', async () => {
  expect(
    await runProgram('audit', ['--from', '2020-01-01', '--to', '2100-01-01'], { DATABASE_URL: site.db.url }),
  ).toMatchObject({ code: 1, stderr: expect.stringMatching(/^row security hides all sites from \w+: use .* owner/) });
});
