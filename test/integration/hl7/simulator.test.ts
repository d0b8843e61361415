/**
 * Days of two hospitals, with messages that come late, again and after kills. At the end each patient record has the truth
 * about one person, or the administrator's list shows the difference.
 */
import { expect, test } from 'vitest';

import { createSnapshotCache } from '../../../edge/hl7/ingest/snapshot/cache.ts';
import { reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import type { Database } from '../../../edge/deps.ts';
import { AUTHORITIES, simulateDay, type SimulatedDay, type SimulatedMessage } from '../../inputs/simulated-hospital.ts';
import { findResource } from '../../../edge/admin/messages/find-resource.ts';
import { addAudit } from '../../../edge/store/audit.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { parseStored, type StoredResource, toWrite, writeResources } from '../../../edge/store/resource.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { randomFrom } from '../../stack/tools/random.ts';
import { seed, sized } from '../../stack/tools/size.ts';
import { readRecords, untrueRecords } from '../../inputs/true-records.ts';
import { valueKey, type Watch, watchValues } from '../../inputs/value-origins.ts';

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
  watch?: (site: Hl7Site, controlId: string) => Promise<void>,
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
      return;
    }
    await watch?.(site, message.controlId);
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
    const { rows } = await db.client.query<{ message_id: string; control_id: string }>(
      `select message_id, control_id from hl7_message where site_id = $1 and outcome = 'AA' order by md5(control_id) limit 12`,
      [site.site],
    );
    const by = { kind: 'person', name: '1', address: null } as const;
    for (const { message_id: id, control_id: control } of rows) {
      const attempt = { why: 'replayed', actor: 'Ada', jobId: null, by } as const;
      await reprocess({ ...site.deps, ...isolate }, site.site, id, attempt, 'replay');
      await watch?.(site, control);
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

/** A FHIR client adds a telephone number, or changes it. */
async function writePhone({ deps, site, clientId, db: { client } }: Hl7Site, number: string): Promise<void> {
  const { rows } = await client.query<StoredResource>(
    `select type, id, version, '' as last_updated, meta, body from resource where site_id = $1 and type = 'Patient'
      order by md5($2 || id::text) limit 1`,
    [site, number],
  );
  for (const row of rows) {
    const phone = { ...parseStored(row), telecom: [{ system: 'phone', value: number }] };
    const actor = { kind: 'key', name: null, clientId, address: null, requestId: 'request-1' } as const;
    await inSite(deps.database, site).batch([
      writeResources(site, [toWrite(phone, row.id, 'update')]),
      addAudit(site, actor, { action: null, searched: null }),
    ]);
  }
}

/** The text of fields such as `PID-5`, or of segments such as `OBX`. */
const textOf = (message: string, fields: readonly string[]): string =>
  fields
    .flatMap((field) => {
      const [id = '', number] = field.split('-');
      const segments = message.split('\n').filter((line) => line.startsWith(`${id}|`));
      return segments.map((line) =>
        number === undefined ? line : (line.split('|')[Number(number) - (id === 'MSH' ? 1 : 0)] ?? ''),
      );
    })
    .join('\n');

/** The fields of values that a field does not state literally: a code of FHIR, a reference, a system. */
const DERIVED: readonly (readonly [path: RegExp, fields: RegExp])[] = [
  [/^(?:subject|patient)\./, /^(?:PID-3|MRG-1)$/],
  [/^active$/, /^(?:MSH-9|MRG-1)$/],
  [/^link\b/, /^(?:MRG-1|PID-3)$/],
  [/^gender$/, /^PID-8$/],
  [/^name\b.*\.text$/, /^PID-5$/],
  [/^identifier\b.*\.(?:system|use|code)$/, /^(?:PID-3|MRG-1|OBR-[23]|ORC-[23]|TXA-12)$/],
  [/^basedOn\b/, /^(?:OBR|ORC)-[23]$/],
  // A merge withdraws one of two equal results, or makes an earlier status count.
  [/^(?:_?status|docStatus)\b/, /^(?:OBX-11|OBR-25|TXA-1[79]|MSH-9|MRG-1)$/],
  [/^code\b.*\.system$/, /^(?:OBX-3|OBR-4|AL1-3)$/],
  [/^issued$/, /^OBR-22$/],
  [/^result\b/, /^(?:OBX|MRG-1)$/],
  [/^derivedFrom\b/, /^OBR-26$/],
  [/^extension\b/, /^OB(?:R-(?:26|29)|X-[45])$/],
  [/^dataAbsentReason\b/, /^OBX-(?:5|11)$/],
  [/^(?:_?category|type)\b/, /^(?:AL1-2|TXA|OBR-24|OBX-29)$/],
  [/^_criticality\b/, /^AL1-4$/],
  [/^clinicalStatus\b/, /^AL1$/],
  [/^content\b.*\.(?:contentType|data)$/, /^OBX-5$/],
  // The replaced document may arrive later.
  [/^relatesTo\b/, /^(?:TXA-13|MSH-9)$/],
  // The lines of several messages.
  [/^conclusion$/, /^OBX-5$/],
];

const isStated = (path: string, value: string, text: string, fields: readonly string[]): boolean => {
  const stated = JSON.parse(value) as unknown;
  if (text.includes(String(stated))) return true;
  if (/date/i.test(path) && text.includes(String(stated).replaceAll(/\D/g, '').slice(0, 12))) return true;
  const derived = DERIVED.find(([pattern]) => pattern.test(path));
  return derived !== undefined && fields.every((field) => derived[1].test(field));
};

/** Counts the round trips to the database. */
function counted(database: Database): { readonly database: Database; readonly trips: () => number } {
  let trips = 0;
  const count = () => {
    trips += 1;
    return database;
  };
  return {
    database: {
      run: (query, limits) => count().run(query, limits),
      batch: (queries, limits) => count().batch(queries, limits),
    },
    trips: () => trips,
  };
}

/** A day with watched writes: of messages, and of a FHIR client after every fifth. */
async function runWatched(day: SimulatedDay, of: number): Promise<{ readonly site: Hl7Site; readonly watch: Watch }> {
  const seen: { site?: Hl7Site; watch?: Watch; writes: number } = { writes: 0 };
  await run(day, deliver(day, randomFrom(of), true), true, async (site, controlId) => {
    seen.site = site;
    seen.watch ??= watchValues(db.client, site.site);
    await seen.watch.note(controlId);
    seen.writes += 1;
    if (seen.writes % 5 !== 0) return;
    await writePhone(site, `0800${seen.writes}`);
    await seen.watch.note(`FHIR ${site.clientId}`);
  });
  const { site, watch } = seen;
  if (site === undefined || watch === undefined) throw new Error('the day has no message');
  return { site, watch };
}

test('each value has its message with the field, or its client, in one round trip', async () => {
  const counts = { compared: 0, unclear: 0 };
  for (let of = SEED + DAYS; counts.compared < sized(1000, 10_000); of += 1) {
    const day = simulateDay(of, SCENES);
    const texts = new Map(day.messages.map(({ controlId, text }) => [controlId, text]));
    const { site, watch } = await runWatched(day, of);
    const { database, trips } = counted(site.deps.database);
    const wrong: string[] = [];
    for (const [reference, origins] of watch.origins()) {
      const [type = '', id = ''] = reference.split('/');
      const { values } = await findResource(database, site.site, type, id, undefined);
      for (const { path, value, version, statedBy, fields } of values) {
        const expected = origins.get(valueKey(path, value ?? ''));
        counts[expected === null ? 'unclear' : 'compared'] += 1;
        if (expected === null) continue;
        const { message = null, clientId } = version?.facts ?? {};
        const named = message?.controlId ?? `FHIR ${clientId}`;
        if (named !== expected) wrong.push(`${reference} ${path} ${value}: ${named} instead of ${expected}`);
        else if (message !== null) {
          // The identifiers of the merged patient are those of earlier messages.
          const isMerged = path.startsWith('identifier') && fields.includes('MRG-1');
          const source = texts.get(statedBy?.controlId ?? named) ?? '';
          // A value that an earlier message stated may have no field.
          if (fields.length === 0 && statedBy === null) wrong.push(`${reference} ${path} ${value} without a field`);
          const text = isMerged ? [...texts.values()].join() : fields.length === 0 ? source : textOf(source, fields);
          // Two results were joined, and the message's own value does not count.
          const isJoined = fields.join() === 'MSH-9' && !isStated(path, value ?? '', source, []);
          if (!isJoined && !isStated(path, value ?? '', text, fields))
            wrong.push(`${reference} ${path} ${value} ${fields.join()}`);
        }
      }
    }
    expect(wrong, `day ${of}`).toEqual([]);
    expect(trips()).toBe(watch.origins().size);
  }
  expect(counts.unclear).toBeLessThan(counts.compared / 10);
});
