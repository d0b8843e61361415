/**
 * Days of two hospitals, with messages that come late, again and after kills. At the end each patient record has the truth
 * about one person, or the administrator's list shows the difference.
 */
import { expect, test } from 'vitest';

import { createSnapshotCache } from '../../../edge/hl7/ingest/snapshot/cache.ts';
import { reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import type { Database } from '../../../edge/deps.ts';
import { AUTHORITIES, simulateDay, type SimulatedDay, type SimulatedMessage } from '../../inputs/simulated-hospital.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { randomFrom } from '../../stack/tools/random.ts';
import { seed, sized } from '../../stack/tools/size.ts';
import { readRecords, untrueRecords } from './true-records.ts';

const db = await useTestDatabase();

/** A message on its way. `before`: the gateway dies before it stores the message, `after`: before its ACK. */
interface Delivery {
  readonly message: SimulatedMessage;
  readonly fault: 'none' | 'before' | 'after';
}

/** The messages in the order of arrival: some late, some again, some through a gateway that dies. */
function deliver({ messages }: SimulatedDay, random: () => number, isDisturbed: boolean): readonly Delivery[] {
  if (!isDisturbed) return messages.map((message) => ({ message, fault: 'none' }));
  const arriving = messages.flatMap((message, at) => {
    const late = random() < 0.15 ? 1 + random() * 40 : 0;
    const fault = random() < 0.05 ? (random() < 0.5 ? ('before' as const) : ('after' as const)) : ('none' as const);
    const first = { at: at + late, message, fault };
    return random() < 0.1 ? [first, { at: first.at + random() * 60, message, fault: 'none' as const }] : [first];
  });
  return arriving.toSorted((a, b) => a.at - b.at);
}

class Killed extends Error {}

/** The database as a gateway sees it that dies at its next statement. */
function dying(database: Database, fault: 'before' | 'after'): Database {
  const die = async (work: () => Promise<unknown>): Promise<never> => {
    if (fault === 'after') await work();
    throw new Killed();
  };
  return { run: (query) => die(() => database.run(query)), batch: (queries) => die(() => database.batch(queries)) };
}

async function run(
  day: SimulatedDay,
  deliveries: readonly Delivery[],
  isDisturbed: boolean,
): Promise<readonly string[]> {
  const site: Hl7Site = await createHl7Site({
    database: db,
    timeZone: 'Europe/Vienna',
    ...(day.isNamed && { assigningAuthorities: AUTHORITIES }),
  });
  let isolate = { snapshots: createSnapshotCache() };
  const outcomes = new Map<SimulatedMessage, string>();
  const problems: string[] = [];
  const send = async ({ message, fault }: Delivery): Promise<void> => {
    const by = fault === 'none' ? isolate : { ...isolate, database: dying(site.deps.database, fault) };
    try {
      const { outcome, errors } = await site.sendByOther(message.text, by, message.sender);
      const refused = errors.filter((error) => error.startsWith('E'));
      outcomes.set(message, [outcome, ...refused].join(' '));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      // The sender gets no ACK and sends the same bytes to the gateway that was started instead.
      isolate = { snapshots: createSnapshotCache() };
      await send({ message, fault: 'none' });
    }
  };
  for (const each of deliveries) await send(each);
  // A sender sends a rejected message again when the messages before it have arrived.
  for (const [message, outcome] of outcomes) if (outcome !== 'AA') await send({ message, fault: 'none' });

  const messages = [...outcomes.keys()];
  const accepted = messages.filter((message) => outcomes.get(message) === 'AA');
  const check = async (when: string): Promise<void> => {
    const state = await readRecords(db.client, site.site);
    for (const problem of untrueRecords(day.messages, accepted, state)) problems.push(`${when}: ${problem}`);
  };
  const uncertain = new Set(messages.filter(({ isUncertain }) => isUncertain).map(({ person }) => person));
  for (const [message, outcome] of outcomes)
    if (outcome !== 'AA' && !uncertain.has(message.person)) problems.push(`${message.controlId} is ${outcome}`);
  await check('at the end');
  if (problems.length === 0 && isDisturbed) {
    const { rows } = await db.client.query<{ message_id: string }>(
      `select message_id from hl7_message where site_id = $1 and outcome = 'AA' order by md5(control_id) limit 12`,
      [site.site],
    );
    const by = { kind: 'person', name: '1', address: null } as const;
    for (const { message_id: id } of rows) {
      const attempt = { why: 'replayed', actor: 'Ada', jobId: null, by } as const;
      await reprocess({ ...site.deps, ...isolate }, site.site, id, attempt, 'replay');
    }
    await check('after replays');
  }
  return problems;
}

/** A problem without its numbers and ids. */
const kindOf = (problem: string): string => problem.replaceAll(/[\w-]*\d[\w-]*|,|\+/g, '');

/** The fewest deliveries that fail in the same way, by leaving out ever smaller parts. */
async function shrink(
  day: SimulatedDay,
  deliveries: readonly Delivery[],
  isDisturbed: boolean,
  kinds: ReadonlySet<string>,
): Promise<readonly Delivery[]> {
  let least = deliveries;
  const fails = async (some: readonly Delivery[]): Promise<boolean> =>
    (await run(day, some, isDisturbed)).some((problem) => kinds.has(kindOf(problem)));
  const byPerson = [...Map.groupBy(deliveries, ({ message }) => message.person).values()];
  for (const own of byPerson) {
    const rest = least.filter((each) => !own.includes(each));
    if (rest.length < least.length && (await fails(rest))) least = rest;
  }
  for (let size = Math.ceil(least.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < least.length;) {
      const rest = [...least.slice(0, at), ...least.slice(at + size)];
      if (await fails(rest)) least = rest;
      else at += size;
    }
  }
  return least;
}

const SEED = seed ?? Date.now() % 1_000_000;
const DAYS = sized(2, 16);
const SCENES = sized(6, 60);

test.each(Array.from({ length: DAYS }, (_, at) => SEED + at))('day %i', async (of) => {
  const day = simulateDay(of, SCENES);
  for (const isDisturbed of [false, true]) {
    const deliveries = deliver(day, randomFrom(of), isDisturbed);
    const problems = await run(day, deliveries, isDisturbed);
    if (problems.length === 0) continue;
    const least = await shrink(day, deliveries, isDisturbed, new Set(problems.map(kindOf)));
    const again = await run(day, least, isDisturbed);
    const texts = least.map(
      ({ message, fault }) => `${fault === 'none' ? '' : `killed ${fault}\n`}${message.person}\n${message.text}`,
    );
    expect.fail(`day ${of}\n${problems.join('\n')}\n\n${again.join('\n')}\n\n${texts.join('\n\n')}`);
  }
});
