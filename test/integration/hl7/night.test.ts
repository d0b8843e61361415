/**
 * A sender resends a complete night, as interface engines do after a restart. It uses the same control ids, new ones,
 * or several connections at once. No patient record changes, and nothing is lost.
 */
import { expect, test } from 'vitest';

import { useTestDatabase } from '../../stack/tools/database.ts';
import { sized } from '../../stack/tools/size.ts';
import { createHl7Site, type Hl7Site, type Sent } from '../../stack/tools/hl7-site.ts';

const db = await useTestDatabase();

const PEOPLE = sized(3, 40);

/** How the feed dates its messages. */
type Clock = (minute: number) => string;
const dated: Clock = (minute) =>
  `202601${10 + Math.floor(minute / 600)}${String(8 + (Math.floor(minute / 60) % 10)).padStart(2, '0')}${String(minute % 60).padStart(2, '0')}`;
/** Its times are days: only the order of arrival shows what is newer. */
const undated: Clock = () => '20260110';

/**
 * The messages that a hospital sends about some people in a night, in its order. @param run number in its control ids
 */
function night(clock: Clock, run: string): readonly string[] {
  const feed: string[] = [];
  const add = (type: string, ...lines: readonly string[]): void => {
    const at = clock(feed.length);
    const header = `MSH|^~\\&|HIS|HOSP|GATEWAY|SITE|${at}||${type}|${run}-${feed.length}|P|2.5.1`;
    feed.push([header, ...lines.map((line) => line.replaceAll('{at}', at))].join('\n'));
  };
  const people = Array.from({ length: PEOPLE }, (_, n) => ({
    own: `N${n}^^^HOSP^MR`,
    old: `O${n}^^^HOSP^MR`,
    family: `Night${n}`,
    n,
  }));
  const pid = (number: string, family: string, more = '') => `PID|1||${number}||${family}^Ann||19800203|F${more}`;
  const oru = (number: string, family: string, order: string, status: string, value: string): void =>
    add(
      'ORU^R01',
      pid(number, family),
      `OBR|1||${order}|P^Panel^L|||202601090700|||||||||||||||{at}|||${status}`,
      `OBX|1|NM|K^Potassium^L||${value}|mmol/L|3.5-5.1||||${status}`,
      `OBX|2|ST|C^Comment^L||${status} of ${order}||||||${status}`,
    );
  for (const { own, family, n } of people) {
    add('ADT^A04', 'EVN||{at}', pid(own, family, '||||||555-1^PRN^PH'), 'AL1|1|DA|PEN^Penicillin^L|MO');
    oru(own, family, `L${n}`, 'P', '4.0');
  }
  for (const { own, old, family, n } of people) {
    add('ADT^A08', 'EVN||{at}', pid(own, `${family}b`, '||||||555-2^PRN^PH'), 'DG1|1||I10^Hypertension^I10||20260101');
    oru(own, `${family}b`, `L${n}`, 'F', '4.1');
    if (n % 2 === 0) add('ADT^A01', 'EVN||{at}', pid(old, `${family}b`));
    if (n % 2 === 0) oru(old, `${family}b`, `X${n}`, 'F', '7.0');
    const txa = (number: string, parent: string) => `TXA|1|OP|TX|||||{at}||||${number}|${parent}||||AU||AV`;
    add('MDM^T02', 'EVN||{at}', pid(own, `${family}b`), txa(`D${n}`, ''), 'OBX|1|TX|t||first');
    add('MDM^T10', 'EVN||{at}', pid(own, `${family}b`), txa(`E${n}`, `D${n}`), 'OBX|1|TX|t||second');
  }
  for (const { own, old, family, n } of people) {
    oru(own, `${family}b`, `L${n}`, 'C', '4.2');
    if (n % 2 === 0) add('ADT^A40', 'EVN||{at}', pid(own, `${family}b`), `MRG|${old}`);
    if (n % 3 === 0) add('ADT^A03', 'EVN||{at}', pid(own, `${family}b`));
    if (n % 4 === 0) oru(old, `${family}b`, `X${n}`, 'C', '7.1');
  }
  return feed;
}

const rows = async <Row extends object>({ site }: Hl7Site, text: string): Promise<readonly Row[]> =>
  (await db.client.query<Row>(text, [site])).rows;
/** Every resource with its version, the identifiers of the patients, and the issues to review. */
const recordsOf = async (site: Hl7Site) => [
  await rows(site, 'select type, id, version, meta, body, patient_id from resource where site_id = $1 order by id'),
  await rows(site, 'select * from patient_identity where site_id = $1 order by id, value, authority, number_type'),
  await rows(site, 'select type, id, what, at, place, patient_id from hl7_result where site_id = $1 order by id, what'),
  await rows(site, 'select kind, patient_a, patient_b, about from attention where site_id = $1 order by 1, 2, 3, 4'),
];
const contents = (site: Hl7Site) =>
  rows(site, 'select type, id, body, patient_id from resource where site_id = $1 order by id');

async function sendAll(site: Hl7Site, feed: readonly string[]): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  for (const message of feed) sent.push(await site.send(message));
  expect(sent.filter(({ outcome }) => outcome !== 'AA').map(({ text }) => text)).toEqual([]);
  return sent;
}

test('a repeated feed gets its first answers and changes nothing', async () => {
  const site = await createHl7Site({ database: db, timeZone: 'Europe/Vienna' });
  const feed = night(dated, 'A');
  const first = await sendAll(site, feed);
  const before = await recordsOf(site);
  const again = await sendAll(site, feed);
  expect(again.map(({ status, text }) => [status, text])).toEqual(first.map(({ text }) => ['seen', text]));
  expect(await recordsOf(site)).toEqual(before);
  expect(await rows(site, 'select count(*)::int as attempts from hl7_attempt where site_id = $1')).toEqual([
    { attempts: feed.length },
  ]);
});

test('with new control ids, in order and over four connections at once: every message is kept, no patient record has changed', async () => {
  const site = await createHl7Site({ database: db, timeZone: 'Europe/Vienna' });
  const feed = night(dated, 'A');
  await sendAll(site, feed);
  const before = await recordsOf(site);
  expect((await sendAll(site, night(dated, 'B'))).every(({ status }) => status === 'stored')).toBe(true);
  expect(await recordsOf(site)).toEqual(before);

  const third = night(dated, 'C');
  await Promise.all(
    Array.from({ length: 4 }, (_, lane) => sendAll(site, third.filter((_message, at) => at % 4 === lane).toReversed())),
  );
  expect(await recordsOf(site)).toEqual(before);
  expect(await site.messages()).toHaveLength(feed.length * 3);
});

test('a repeated feed with dates only leaves the patient records unchanged', async () => {
  const site = await createHl7Site({ database: db, timeZone: 'Europe/Vienna' });
  await sendAll(site, night(undated, 'A'));
  const before = await contents(site);
  await sendAll(site, night(undated, 'B'));
  expect(await contents(site)).toEqual(before);
});
