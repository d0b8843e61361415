/** Batches over HTTP: each message by itself, a batch of ACKs back; over MLLP a clear refusal. */
import { expect, test } from 'vitest';

import { createApiKey } from '../../stack/services/seed.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import type { Subject } from './subject.ts';

const message = (control: string, id: string) =>
  `${msh('ADT^A08', control)}\nPID|1||${id}^^^&1.2.40.8&ISO^MR||Doe^Jane||19800229|F`;
const batch = (control: string, ...messages: string[]) =>
  [`FHS|^~\\&|LAB|HOSP|GW|SITE|2026||||F-${control}`, `BHS|^~\\&|LAB|HOSP|GW|SITE|2026||||${control}`]
    .concat(messages, [`BTS|${messages.length}`, 'FTS|1'])
    .join('\n');

export function batchCases(subject: () => Subject): void {
  const stored = (control: string) => subject().count(`from hl7_message where control_id like '${control}%'`);

  test('each message is stored and answered by itself, in one round trip each', async () => {
    const { db } = subject();
    // The key is known by then.
    await subject().post(message('KEY-SEEN', 'BA0'));
    const before = db.endpoint.requests();
    const reply = await subject().post(
      batch('BA', message('BA-1', 'BA1'), message('BA-2', 'BA1'), message('BA-3', 'BA2')),
    );
    expect(reply.status).toBe(200);
    expect(db.endpoint.requests() - before).toBe(3);
    const lines = reply.text.split('\r');
    expect(lines[0]).toMatch(/^FHS\|\^~\\&\|GW\|SITE\|LAB\|HOSP\|\d{14}\.\d{3}\+0000\|\|\|\|\w{20}\|F-BA$/);
    expect(lines[1]).toMatch(/^BHS\|\^~\\&\|GW\|SITE\|LAB\|HOSP\|\d{14}\.\d{3}\+0000\|\|\|\|\w{20}\|BA$/);
    expect(lines.filter((line) => line.startsWith('MSA'))).toEqual(['MSA|AA|BA-1', 'MSA|AA|BA-2', 'MSA|AA|BA-3']);
    expect(lines.slice(-3)).toEqual(['BTS|3', 'FTS|1', '']);
    expect(await stored('BA-')).toBe(3);
  });

  test('a rejected message rejects no other message of the batch; a repeated batch applies no accepted message twice', async () => {
    const sent = batch(
      'BB',
      message('BB-1', 'BB1'),
      `${msh('ADT^A08', 'BB-2')}\nPID|1||||Doe^Jane`,
      message('BB-3', 'BB3'),
    );
    const first = await subject().post(sent);
    expect(first.status).toBe(422);
    const codes = (text: string) => [...text.matchAll(/\rMSA\|(..\|[^\r|]+)/g)].map(([, code]) => code);
    expect(codes(first.text)).toEqual(['AA|BB-1', 'AE|BB-2', 'AA|BB-3']);
    expect(codes((await subject().post(sent)).text)).toEqual(['AA|BB-1', 'AE|BB-2', 'AA|BB-3']);
    expect(await stored('BB-')).toBe(3);
  });

  test.each([
    ['cut short', batch('BC', message('BC-1', 'BC1')).replace(/\nBTS[^]*/, ''), 422, 'E 101 BTS^1'],
    ['a message lost', batch('BC', message('BC-1', 'BC1')).replace('BTS|1', 'BTS|2'), 422, 'E 100 BTS^1^1'],
    [
      'longer than 100 messages',
      batch('BC', ...Array.from({ length: 101 }, (_, at) => message(`BC-${at}`, 'BC1'))),
      413,
      'E 207 BHS^1',
    ],
  ])('%s: one error, and nothing is processed', async (_, sent, status, error) => {
    const reply = await subject().post(sent);
    expect(reply).toMatchObject({ status, errors: [error] });
    expect(reply.text).toContain('\rMSA|AR|F-BC|');
    expect(await stored('BC-')).toBe(0);
  });

  test('an empty batch is answered with an empty one', async () => {
    const reply = await subject().post(batch('BE'));
    expect(reply.status).toBe(200);
    expect(reply.text).toMatch(/^FHS[^\r]+\rBHS[^\r]+\rBTS\|0\rFTS\|1\r$/);
  });

  test('the answer has the batches of the request, and a file only for a file', async () => {
    const bhs = (control: string) => `BHS|^~\\&|LAB|HOSP|GW|SITE|2026||||${control}`;
    const envelope = (text: string) =>
      [...text.matchAll(/^(?:[FB]HS.*\||[FB]TS\||MSA\|AA\|)(.*)$/gm)].map(([, end]) => end);
    const post = async (...lines: readonly string[]) =>
      envelope((await subject().post(lines.join('\n'))).text.replaceAll('\r', '\n'));
    const fhs = 'FHS|^~\\&|LAB|HOSP|GW|SITE|2026||||F';
    const [one, two, three] = [message('BX-1', 'BX1'), message('BX-2', 'BX1'), message('BX-3', 'BX1')];
    const batches = [bhs('X'), one, 'BTS|1', bhs('Y'), two, three, 'BTS|2'];
    const answered = ['X', 'BX-1', '1', 'Y', 'BX-2', 'BX-3', '2'];
    expect(await post(...batches)).toEqual(answered);
    expect(await post(fhs, ...batches, 'FTS|2')).toEqual(['F', ...answered, '2']);
    expect(await post(fhs, one, 'FTS')).toEqual(['F', 'F', 'BX-1', '1', '1']);
  });

  test('over MLLP, a batch gets an AR that names HTTP', async () => {
    await createApiKey(subject().db.client, {
      site: subject().site,
      protocols: ['hl7-mllp'],
      allowedIps: ['192.0.2.71'],
    });
    const reply = await subject().forward(batch('BM', message('BM-1', 'BM1')), { src: '192.0.2.71' });
    expect(reply.errors).toEqual(['E 200 FHS^1']);
    expect(reply.text).toContain('\rMSA|AR|BM-1|Batches are accepted over HTTP only');
  });
}
