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
import { readRecords, untrueRecords } from '../../inputs/true-records.ts';

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

  const check = async (when: string): Promise<void> => {
    const state = await readRecords(db.client, site.site);
    for (const problem of untrueRecords(day.messages, outcomes, state)) problems.push(`${when}: ${problem}`);
  };
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

/** The most runs to find fewer messages that fail. */
const MOST_RUNS = 120;

/** The fewest deliveries found that fail in the same way: leaves out ever smaller parts, people first, then messages. */
async function shrink(
  day: SimulatedDay,
  deliveries: readonly Delivery[],
  isDisturbed: boolean,
  problems: readonly string[],
): Promise<readonly Delivery[]> {
  const kinds = new Set(problems.map(kindOf));
  let least = deliveries;
  let runs = 0;
  const keepIfFails = async (some: readonly Delivery[]): Promise<boolean> => {
    if (runs >= MOST_RUNS || some.length === 0 || some.length === least.length) return false;
    runs += 1;
    const isFailing = (await run(day, some, isDisturbed)).some((problem) => kinds.has(kindOf(problem)));
    if (isFailing) least = some;
    return isFailing;
  };
  const leaveOut = async (parts: readonly (readonly Delivery[])[]): Promise<void> => {
    let kept = parts;
    for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < kept.length;) {
        const left = new Set(kept.slice(at, at + size).flat());
        if (await keepIfFails(least.filter((each) => !left.has(each)))) kept = kept.toSpliced(at, size);
        else at += size;
      }
    }
  };
  // Most problems name their only person.
  const named = new Set(problems.flatMap((problem) => problem.match(/person \d+/g) ?? []));
  await keepIfFails(deliveries.filter(({ message }) => named.has(message.person)));
  await leaveOut([...Map.groupBy(least, ({ message }) => message.person).values()]);
  await leaveOut(least.map((each) => [each]));
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
    const least = await shrink(day, deliveries, isDisturbed, problems);
    const again = await run(day, least, isDisturbed);
    const texts = least.map(
      ({ message, fault }) => `${fault === 'none' ? '' : `killed ${fault}\n`}${message.person}\n${message.text}`,
    );
    expect.fail(`day ${of}\n${problems.join('\n')}\n\n${again.join('\n')}\n\n${texts.join('\n\n')}`);
  }
});
