/**
 * Documents of several senders whose number has no authority, in any order of arrival. The record is the same, or an issue is
 * listed, or an answer is AE.
 */
import { expect, test } from 'vitest';

import { useTestDatabase } from '../../stack/tools/database.ts';
import { createHl7Site } from '../../stack/tools/hl7-site.ts';
import { ordersOf } from '../../stack/tools/orders.ts';
import { stateOf } from './state.ts';

const db = await useTestDatabase();

interface Said {
  /** MSH-3. */
  readonly by?: string;
  /** PID-3. */
  readonly of?: string;
  /** TXA-13. */
  readonly parent?: string;
}

/** @param minute TXA-8 and MSH-7 */
const mdm = (
  event: string,
  number: string,
  minute: number,
  { by = 'X', of = 'P1', parent = '' }: Said = {},
): string => {
  const time = `20260102080${minute}`;
  return `MSH|^~\\&|${by}|HOSP|GATEWAY|SITE|${time}||MDM^${event}|${event}-${minute}|P|2.5.1
PID|1||${of}^^^HOSP^MR||Doe^Jane||19800229
TXA|1|OP|TX|||||${time}||||${number}|${parent}||||AU||AV
OBX|1|TX|t||${event}-${minute}`;
};
const A40 = `MSH|^~\\&|ADT|HOSP|GATEWAY|SITE|202601020809||ADT^A40|A40|P|2.5.1
EVN||202601020809
PID|1||P1^^^HOSP^MR||Doe^Jane||19800229
MRG|P2^^^HOSP^MR`;

const ofX = mdm('T02', 'A', 1);
const withAuthority = mdm('T02', 'A^DOCS', 1);
const ofY = mdm('T02', 'A', 2, { by: 'Y' });
const ofZ = mdm('T02', 'A', 3, { by: 'Z' });
const replacement = mdm('T10', 'B', 4, { by: 'Y', parent: 'A' });
const cancellation = mdm('T11', 'A', 5, { by: 'Y' });
const change = mdm('T08', 'A', 6, { by: 'Y' });

/** After a merge of two documents one remains, and the other is entered-in-error. */
const isNoLeftover = (state: string): boolean => state.startsWith('Patient ') || !state.includes('"entered-in-error"');

async function after(messages: readonly string[]) {
  const site = await createHl7Site({ database: db, timeZone: 'Europe/Vienna' });
  let isListed = false;
  for (const message of messages) isListed = (await site.send(message)).outcome === 'AE' || isListed;
  const { rows } = await db.client.query('select kind from attention where site_id = $1', [site.site]);
  const state = await stateOf(db.client, site.site);
  return { state: messages.includes(A40) ? state.filter(isNoLeftover) : state, isListed: isListed || rows.length > 0 };
}

test.each<[name: string, isDecided: boolean, messages: readonly string[]]>([
  ['a replacement', true, [ofX, replacement]],
  ['a replacement of a number with an authority', true, [withAuthority, replacement]],
  ['a replacement and a cancellation', true, [ofX, replacement, cancellation]],
  ['both, of a number with an authority', true, [withAuthority, replacement, cancellation]],
  ['both, without the document', true, [replacement, cancellation]],
  ['a document and its version', true, [ofX, replacement, mdm('T08', 'A', 6)]],
  ['the document of the sender', true, [ofY, replacement, cancellation]],
  ['documents of two senders', false, [ofX, ofY, replacement]],
  ['documents of two other senders', false, [ofX, ofZ, replacement]],
  ['two documents, one cancelled', false, [ofX, ofZ, cancellation]],
  ['a change', false, [ofX, change]],
  ['a change and a replacement', false, [ofX, change, replacement]],
  ['a merge', true, [mdm('T02', 'A', 1, { of: 'P2' }), replacement, A40]],
  ['a merge of the replacement', true, [ofX, mdm('T10', 'B', 4, { by: 'Y', of: 'P2', parent: 'A' }), A40]],
  [
    'a merge of both',
    true,
    [
      mdm('T02', 'A', 1),
      mdm('T11', 'A', 5, { by: 'Y', of: 'P2' }),
      mdm('T10', 'B', 4, { by: 'Y', of: 'P2', parent: 'A' }),
      A40,
    ],
  ],
  [
    'a merge of documents of two senders',
    false,
    [mdm('T02', 'A', 1, { of: 'P2' }), ofZ, mdm('T10', 'B', 4, { by: 'Y', of: 'P2', parent: 'A' }), A40],
  ],
  ['a chain', true, [ofX, replacement, mdm('T10', 'C', 5, { by: 'Z', parent: 'B' })]],
  ['a replacement of its number', true, [ofX, mdm('T10', 'A^DOCS', 4, { by: 'Y', parent: 'A' })]],
  ['all', false, [ofX, ofZ, replacement, cancellation]],
])('%s', async (_, isDecided, messages) => {
  const ends: Awaited<ReturnType<typeof after>>[] = [];
  for (const order of ordersOf(messages)) ends.push(await after(order));
  const isListed = ends.some((end) => end.isListed);
  expect(isListed).toBe(!isDecided);
  const unlisted = ends.filter((end) => !end.isListed).map(({ state }) => state);
  for (const state of unlisted) expect(state).toEqual(unlisted[0]);
});
