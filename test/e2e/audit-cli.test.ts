/** `npm run audit`: what it prints, and that who ran it is on record. */
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createHl7Site, type Hl7Site } from '../stack/tools/hl7-site.ts';
import { runProgram } from '../stack/tools/command-line.ts';
import { msh } from '../stack/tools/hl7-text.ts';

let site: Hl7Site;

beforeAll(async () => {
  site = await createHl7Site();
  await site.send(`${msh('ADT^A04')}\nPID|1||E-1^^^HOSP^MR||Archive^Ada`);
});
afterAll(() => site.db.drop());

const audit = (...words: string[]) => runProgram('audit', words, { DATABASE_URL: site.db.ownerUrl });

test('prints an AuditEvent for each row of the time asked for; the next run shows that it ran', async () => {
  const whole = ['--from', '2020-01-01', '--to', '2100-01-01T00:00:00Z', '--site', site.site];
  const first = (await audit(...whole)).stdout.trim().split('\n');
  expect(first.map((line) => JSON.parse(line))).toMatchObject([
    { resourceType: 'AuditEvent', action: 'C', agent: [{ who: { identifier: { value: site.clientId } } }] },
  ]);
  const { stdout } = await audit(...whole);
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect(stdout).toContain('Audit Log Used');
  expect((await audit('--from', '2020-01-01', '--to', '2020-01-02')).stdout).toBe('');
});

test.each([
  [['--from', 'yesterday', '--to', '2026-01-01'], /--from must be a date/],
  [['--from', '2026-01-01', '--to', '2026-01-02', '--site', 'none'], /the site none does not exist/],
])('%j is refused in words', async (words, said) => {
  expect(await audit(...words)).toMatchObject({ code: 1, stderr: expect.stringMatching(said) });
});
