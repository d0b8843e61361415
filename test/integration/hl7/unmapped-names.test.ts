/** The names in the hospital's messages that have no URI. */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { ADA, createHl7Site } from '../../stack/tools/hl7-site.ts';

const site = await createHl7Site({ assigningAuthorities: { NAMED: 'urn:example:named' } });

/** `authority HOSP` of each name of the newest message, and how many messages have it. */
const names = async () => {
  const { rows } = await site.db.client.query<{ kind: string; name: string; count: string }>(
    'select kind, name, count(*) from unmapped_name where site_id = $1 group by kind, name order by kind, name',
    [site.site],
  );
  return rows.map(({ kind, name, count }) => `${kind} ${name} ${count}`);
};

const oru = (cx: string) =>
  `${msh('ORU^R01')}\nPID|1||${cx}||Doe^Jane\nOBR|1||${randomUUID()}^LAB|24331-1^Lipids^LN|||20260101\n` +
  'OBX|1|NM|GLU^Glucose^99Lab||5|mmol/l^^Own|||||F\nOBX|2|NM|2093-3^Chol^LN^CHOL^^99LAB||5|mg/dL^^UCUM|||||F';

test('are listed by message, once each, in any capitals; a name with a URI is not listed', async () => {
  expect(await site.send(oru('U1^^^NAMED'))).toMatchObject({ outcome: 'AA' });
  expect(await names()).toEqual(['authority LAB 1', 'code-system 99LAB 1', 'code-system OWN 1']);
  await site.send(oru('U2^^^urn:oid:1.2.3'));
  await site.send(oru('U3^^^Hosp&1.2.3&ISO'));
  expect(await names()).toEqual(['authority LAB 3', 'code-system 99LAB 3', 'code-system OWN 3']);
});

test('are listed of a rejected message too, and leave the list when it is processed again', async () => {
  await site.db.client.query('delete from unmapped_name where site_id = $1', [site.site]);
  const refused = `${msh('ORU^R01')}\nPID|1||R1^^^FOREIGN||Doe^Jane\nOBR|1||F9^LAB2|1^x^LN|||20260101${'|'.repeat(18)}Y`;
  expect(await site.send(refused)).toMatchObject({ outcome: 'AE' });
  expect(await names()).toContain('authority FOREIGN 1');
  const { rows } = await site.db.client.query<{ message_id: string }>('select distinct message_id from unmapped_name');
  await site.db.client.query('update site set assigning_authorities = $1 where site_id = $2', [
    { FOREIGN: 'urn:example:foreign' },
    site.site,
  ]);
  await reprocess(
    site.deps,
    site.site,
    rows[0]?.message_id ?? '',
    { why: 'replayed', actor: 'test', jobId: null, by: ADA },
    'r',
  );
  expect(await names()).not.toContain('authority FOREIGN 1');
});

test('are no more than a hundred of one message, and none that is too long to be named', async () => {
  await site.db.client.query('delete from unmapped_name where site_id = $1', [site.site]);
  const codes = Array.from({ length: 150 }, (_, at) => `DG1|${at + 1}||C${at}^x^99N${at}|||A`).join('\n');
  await site.send(`${msh('ADT^A01')}\nPID|1||N1^^^${'x'.repeat(300)}||Doe^Jane\n${codes}`);
  expect(await names()).toHaveLength(100);
});
