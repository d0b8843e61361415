/** The large documents of messages in the database: which rows need them, and when they are deleted. */
import { expect, test } from 'vitest';

import { erase } from '../../../edge/platform/node/erase-patient.ts';
import { connectDatabase } from '../../../edge/platform/node/database.ts';
import { withDocuments } from '../../../shared/hl7/document-token.ts';
import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { previewReplay, reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import { viewMessageDetail } from '../../../edge/admin/messages/view.ts';
import { readStoredMessage } from '../../../edge/store/admin-message.ts';
import { audited } from '../../../edge/store/audit.ts';
import { REINDEX_START, resourcesAfter } from '../../../edge/store/search/reindex.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';

const db = await useTestDatabase();
const OPERATOR = { kind: 'operator', name: 'root', clientId: null, address: null, requestId: 'e-1' } as const;

const scan = (fill: string, length = 4000): string => Buffer.from(fill.repeat(length)).toString('base64');
const pid = (patient: string) => `PID|1||${patient}^^^HOSP^MR||Doe^Jane||19800101|F`;
const mdm = (patient: string, base64: string, number = `D-${patient}`) =>
  `${msh('MDM^T02')}\n${pid(patient)}\nTXA|1|OP|AP|||||||||${number}|||||AU\nOBX|1|ED|PDF||^AP^PDF^Base64^${base64}||||||F`;
const oru = (patient: string, base64: string, status = 'F') =>
  `${msh('ORU^R01')}\n${pid(patient)}\nOBR|1|P1|F1|X^X-ray^L|||20260101080000+0000|||||||||||||||||RAD|${status}\n` +
  `OBX|1|ED|PDF^Report^L||^AP^PDF^Base64^${base64}||||||${status}`;
const adt = (patient: string) => `${msh('ADT^A04')}\n${pid(patient)}`;

async function rowsOf({ site }: Hl7Site) {
  const { rows } = await db.client.query<{ documents: number; uses: string[] }>(
    `select (select count(*)::int from document where site_id = $1) as documents,
            coalesce((select array_agg(type order by type) from document_use where site_id = $1), '{}') as uses`,
    [site],
  );
  return rows[0];
}
async function eraseNow(at: Hl7Site, value: string): Promise<void> {
  const owner = await connectDatabase(db.ownerUrl);
  const { rows } = await db.client.query<{ id: string }>(
    'select distinct id from patient_identity where site_id = $1 and value = $2',
    [at.site, value],
  );
  const id = rows[0]?.id ?? '';
  const answers = [id, 'erase'];
  await erase(audited(owner, at.site, OPERATOR), at.site, id, () => Promise.resolve(answers.shift()));
  await owner.close();
}
/** Deletes the bytes of all messages of a site, as their age does. */
async function forgetMessages(at: Hl7Site): Promise<void> {
  await db.client.query(`update hl7_message set received_at = received_at - interval '2000 days' where site_id = $1`, [
    at.site,
  ]);
  await db.client.query('select * from retention_step($1, now(), null, 100)', [at.site]);
}

test('a document is needed by its messages and resources, and deleted with the last of them', async () => {
  const site = await createHl7Site({ database: db });
  const base64 = scan('a');
  await site.send(mdm('S1', base64));
  await site.send(oru('S2', base64));
  expect(await rowsOf(site)).toEqual({
    documents: 1,
    uses: ['DocumentReference', 'Hl7Message', 'Hl7Message', 'Observation'],
  });
  await forgetMessages(site);
  expect(await rowsOf(site)).toEqual({ documents: 1, uses: ['DocumentReference', 'Observation'] });
  await eraseNow(site, 'S1');
  expect(await rowsOf(site)).toEqual({ documents: 1, uses: ['Observation'] });
  await eraseNow(site, 'S2');
  expect(await rowsOf(site)).toEqual({ documents: 0, uses: [] });
});

test('an erased patient loses its documents, and another patient and another site keep the same bytes', async () => {
  const [site, other] = [await createHl7Site({ database: db }), await createHl7Site({ database: db })];
  const base64 = scan('b');
  await site.send(mdm('S1', base64));
  await site.send(mdm('S1', scan('c'), 'D-own'));
  await site.send(mdm('S2', base64));
  await other.send(mdm('S1', base64));
  const theirs = await rowsOf(other);
  expect((await rowsOf(site))?.documents).toBe(2);
  await eraseNow(site, 'S1');
  expect(await rowsOf(site)).toEqual({ documents: 1, uses: ['DocumentReference', 'Hl7Message'] });
  expect(await rowsOf(other)).toEqual(theirs);
});

test('the document of an earlier version stays with the history, also after a merge', async () => {
  const site = await createHl7Site({ database: db });
  await site.send(adt('M1'));
  await site.send(adt('M2'));
  await site.send(oru('M1', scan('d'), 'P'));
  await site.send(oru('M1', scan('e')));
  await site.send(`${msh('ADT^A40')}\n${pid('M2')}\nMRG|M1^^^HOSP^MR`);
  await forgetMessages(site);
  expect(await rowsOf(site)).toMatchObject({ documents: 2, uses: ['Observation', 'Observation'] });
  await eraseNow(site, 'M2');
  expect(await rowsOf(site)).toEqual({ documents: 0, uses: [] });
});

test.each(['\n', '\r', '\r\n', '\rADD|'])(
  'a document with line ends that are not escaped (%j) is complete',
  async (end) => {
    const site = await createHl7Site({ database: db });
    const base64 = scan('h', 9000);
    const broken = [base64.slice(0, 6000), base64.slice(6000)].join(end);
    expect(await site.send(oru('L1', broken))).toMatchObject({ outcome: 'AA' });
    const { rows } = await db.client.query<{ body: string }>(
      `select body from resource where site_id = $1 and type = 'Observation'`,
      [site.site],
    );
    expect(rows[0]?.body).toContain(base64);
  },
);

test('a rejected message keeps its document until it is deleted, and the resend uses it', async () => {
  const site = await createHl7Site({ database: db });
  // A result without a patient's identifier is rejected.
  const message = oru('', scan('f'));
  expect(await site.send(message)).toMatchObject({ outcome: 'AE' });
  expect(await site.send(message)).toMatchObject({ outcome: 'AE' });
  expect(await rowsOf(site)).toEqual({ documents: 1, uses: ['Hl7Message'] });
  await forgetMessages(site);
  expect(await rowsOf(site)).toEqual({ documents: 0, uses: [] });
});

test('the same message again stores nothing; a replay is decided as the message was', async () => {
  const site = await createHl7Site({ database: db });
  const message = mdm('R1', scan('g'));
  await site.send(message);
  const before = await rowsOf(site);
  expect(await site.send(message)).toMatchObject({ status: 'seen', outcome: 'AA' });
  expect(await rowsOf(site)).toEqual(before);
  const { rows } = await db.client.query<{ id: string }>(
    'select message_id as id from hl7_message where site_id = $1',
    [site.site],
  );
  const id = rows[0]?.id ?? '';
  const preview = await previewReplay(site.deps, site.site, id, 'r-1');
  expect(preview.changes.map(({ change }) => change)).toEqual(['unchanged', 'unchanged']);
  const by = { kind: 'person', name: 'x', address: null, clientId: null, requestId: 'r-2' } as const;
  const attempt = { why: 'replayed', actor: 'x', jobId: null, by } as const;
  const [shown] = await site.database.run(readStoredMessage(site.site, id));
  expect(shown && viewMessageDetail(shown, [], [], []).text).toBe(message);
  // As exports read.
  const exported = await site.database.run(resourcesAfter(site.site, REINDEX_START, 10, 1));
  expect(exported.map(({ body }) => body ?? '').join('')).toContain(`"data":"${scan('g')}"`);
  expect(await reprocess(site.deps, site.site, id, attempt, 'r-2')).toMatchObject({ outcome: 'AA' });
  expect(await rowsOf(site)).toEqual(before);
});

test('one use among two at once: retention and a new message never leave a use without its document', async () => {
  const site = await createHl7Site({ database: db });
  const base64 = scan('h');
  for (let round = 0; round < 5; round += 1) {
    await site.send(oru('', base64));
    const [, sent] = await Promise.all([forgetMessages(site), site.send(mdm(`T${round}`, base64))]);
    expect(sent.outcome).toBe('AA');
    await forgetMessages(site);
    expect((await rowsOf(site))?.documents).toBe(1);
    await eraseNow(site, `T${round}`);
    expect(await rowsOf(site)).toEqual({ documents: 0, uses: [] });
  }
});

const lines = (base64: string, separator: string, width = 76): string =>
  (base64.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(separator);
const ed = (encoding: string, data: string, rest = '') =>
  `MSH|^~\\&|A|B\rOBX|1|ED|X||^AP^PDF^${encoding}^${data}${rest}|||||F\r`;
const base64 = scan('i', 4001);

test.each([
  ['one line', ed('Base64', base64), 1],
  ['without an encoding', ed('', base64), 1],
  ['lines ended by \\.br\\', ed('Base64', lines(base64, '\\.br\\')), 1],
  ['lines ended by \\X0D\\\\X0A\\', ed('Base64', lines(base64, '\\X0D\\\\X0A\\', 64)), 1],
  ['two repetitions', ed('Base64', base64, `~^AP^PDF^Base64^${scan('j')}`), 2],
  ['the same twice', ed('Base64', base64, `~^AP^PDF^Base64^${base64}`), 1],
  ['irregular lines', ed('Base64', `${lines(base64, '\\.br\\')}\\.br\\`), 0],
  ['hexadecimal digits', ed('Hex', '0a'.repeat(4000)), 0],
  ['text', ed('A', 'word'.repeat(4000)), 0],
  ['another type', ed('Base64', base64).replace('|ED|', '|ST|'), 0],
  ['without its padding', ed('Base64', base64.replaceAll('=', '')), 0],
  ['unused bits', ed('Base64', `${base64.slice(0, -4)}QR==`), 0],
  ['a short document', ed('Base64', scan('k', 300)), 0],
  ['a token of the sender', `${ed('Base64', base64)}ZZZ|\u0001${'A'.repeat(43)}.1.0.\u0001`, 0],
  ['delimiters that base64 has', ed('Base64', base64).replaceAll('^', '+').replaceAll('|', '/'), 0],
])('%s: %#', async (_name, message, count) => {
  const bytes = bytesOf(message);
  const cut = await cutMessage(bytes, Infinity);
  expect(cut.documents).toHaveLength(count);
  const base64Of = new Map(cut.documents.map((each) => [each.sha256, each.base64 ?? '']));
  expect(withDocuments(new TextDecoder().decode(cut.bytes), base64Of)).toBe(new TextDecoder().decode(bytes));
  if (count > 0) expect(cut.bytes.length).toBeLessThan(400);
});
