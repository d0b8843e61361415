/**
 * A check of a message shows nothing about stored patients, earlier messages or other API keys. In a site with a day of messages
 * of other keys it is equal to the check in an empty site. A neighbour could ask for:
 * - patients: whether an identifier exists, and by warnings whose name and birth date it has, or that it was merged
 * - results and documents: whether an order or a document number exists
 * - earlier messages: whether the bytes or the control id were sent before
 * - other keys: the namespaces that they taught
 * - the time of the answer, which depends on what is loaded
 */
import { expect, test } from 'vitest';

import { viewCheck } from '../../../edge/admin/workbench/operations.ts';
import { checkMessage } from '../../../edge/hl7/ingest/check.ts';
import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { dryRun } from '../../../edge/hl7/ingest/replay/dry-run.ts';
import type { Database } from '../../../edge/deps.ts';
import { corpus } from '../../inputs/hl7-corpus.ts';
import { simulateDay } from '../../inputs/simulated-hospital.ts';
import { callerOf } from '../../stack/tools/caller.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { bytesOf } from '../../stack/tools/hl7-text.ts';
import { randomFrom } from '../../stack/tools/random.ts';
import { seed, sized } from '../../stack/tools/size.ts';

const db = await useTestDatabase();
const SEED = seed ?? Date.now() % 1_000_000;
const NOW = Date.parse('2026-11-27T10:00:00Z');

/** Ids in the order in which they appear, and without MSH-10 of the ACK: they are new in each check. */
function withoutIds(text: string, { site, clientId }: Hl7Site): string {
  const ids = new Map<string, string>();
  const named = text.replaceAll(site, 'SITE').replaceAll(clientId, 'CLIENT');
  return named.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{20}\b/g, (id) => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size}`);
    return ids.get(id) ?? '';
  });
}

const check = async (at: Hl7Site, bytes: Uint8Array, database: Database = at.deps.database): Promise<string> => {
  const deps = { ...at.deps, database, now: () => NOW };
  const checked = await checkMessage(
    deps,
    { kind: 'caller', caller: callerOf(at.site, at.clientId) },
    await cutMessage(bytes, Infinity),
    'r',
  );
  return withoutIds(JSON.stringify(viewCheck(checked, bytes, false)), at);
};

/** The first line that differs. */
function differenceOf(one: string, other: string): string {
  const lines = other.split('"');
  const at = one.split('"').findIndex((line, place) => line !== lines[place]);
  return one
    .split('"')
    .slice(at - 10, at + 10)
    .join('"');
}

/** The verdict in the real site, which only staff see. */
const dryRunOf = async (at: Hl7Site, bytes: Uint8Array): Promise<string> => {
  const { outcome, findings } = await dryRun({ ...at.deps, now: () => NOW }, at, bytes, 'r');
  return withoutIds(JSON.stringify({ outcome, findings }), at);
};

test('is equal in a full and in an empty site, in one round trip, and stores nothing', async () => {
  const options = { database: db, timeZone: 'Europe/Vienna' };
  const [full, empty] = [await createHl7Site(options), await createHl7Site(options)];
  const day = simulateDay(SEED, sized(2, 60));
  for (const { text, sender } of day.messages) await full.sendByOther(text, {}, sender);
  const random = randomFrom(SEED);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const texts = day.messages.map(({ text }) => text);
  // Messages with segments of other messages: other persons with known identifiers, merges of strangers.
  const mixed = texts.map((text) => {
    const other = (pick(texts) ?? '').split('\n');
    return text
      .split('\n')
      .map((line) => (random() < 0.3 ? (other.find((each) => each.slice(0, 3) === line.slice(0, 3)) ?? line) : line))
      .join('\n');
  });
  const sent = [...texts, ...mixed].map(bytesOf);
  const count = async () => {
    const { rows } = await db.client.query(
      `select (select count(*) from hl7_message) as messages, (select count(*) from resource) as resources,
              (select count(*) from audit) as audit, (select count(*) from authority_alias) as aliases,
              (select count(*) from unmapped_name) as names`,
    );
    return rows;
  };
  const before = await count();
  let trips = 0;
  const counted: Database = {
    run: (query, limits) => ((trips += 1), full.deps.database.run(query, limits)),
    batch: (queries, limits) => ((trips += 1), full.deps.database.batch(queries, limits)),
  };
  const differing: string[] = [];
  let isShownToStaff = false;
  for (const bytes of sent) {
    const [inFull, inEmpty] = [await check(full, bytes, counted), await check(empty, bytes)];
    if (inFull !== inEmpty) differing.push(`${new TextDecoder().decode(bytes)}\n${differenceOf(inFull, inEmpty)}`);
    isShownToStaff ||= (await dryRunOf(full, bytes)) !== (await dryRunOf(empty, bytes));
  }
  expect(differing).toEqual([]);
  expect(trips).toBe(sent.length);
  expect(await count()).toEqual(before);
  // The same messages do show a difference where the stored patients count.
  expect(isShownToStaff).toBe(true);
});

test('is the same before and after the key and another key sent a real message', async () => {
  const at = await createHl7Site({ database: db, timeZone: 'Europe/Vienna' });
  for (const { name, bytes } of corpus().slice(0, sized(20, 1000))) {
    const first = await check(at, bytes);
    await at.sendByOther(new TextDecoder('latin1').decode(bytes).replaceAll(/\r\n?/g, '\n'));
    await at.send(bytes);
    // The key's own messages may have taught namespaces; outcome, resources and their types stay.
    const shape = (text: string) => {
      const { outcome, resources } = JSON.parse(text) as { outcome: string; resources: { resourceType: string }[] };
      return [outcome, ...resources.map(({ resourceType }) => resourceType)].join(' ');
    };
    expect([name, shape(await check(at, bytes))]).toEqual([name, shape(first)]);
  }
});
