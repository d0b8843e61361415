/**
 * The job that lists patient records that are alike but have different identifiers, as possible duplicates. It compares the
 * records that were changed since the last run, of one site in each step. It never delays a message.
 */
import * as z from 'zod';

import { isJsonObject, type JsonObject, parseJson } from '../../../shared/json.ts';
import { jobKind } from '../../jobs/kind.ts';
import {
  addAlike,
  ALIKE_KIND,
  alikeDue,
  type AlikePair,
  type AlikeRow,
  findAlike,
  setAlikeMoment,
  setAlikePosition,
} from '../../store/alike.ts';
import { inSite } from '../../store/in-site.ts';
import { PLACEHOLDER_BIRTH_DATES } from '../patients/person.ts';
import { areAlike } from './alike.ts';

/** Changed records of a step. */
export const STEP_RECORDS = 200;
/** Until the next step if no site has changed records. */
const PAUSE_SECONDS = 50;

export const COMPARE_ALIKE = jobKind({
  kind: ALIKE_KIND,
  cursor: z.object({}),
  step: async ({ database }, { cursor, progress }) => {
    const [due] = await database.run(alikeDue());
    const step = { cursor, progress, isDone: false, writes: [] };
    if (due === undefined) return { ...step, pauseSeconds: PAUSE_SECONDS };
    const { site_id: site, until_at: until } = due;
    // Not among the step's writes, since the job is of no site. To write again is harmless.
    const siteDatabase = inSite(database, site);
    if (until === null) {
      await siteDatabase.run(setAlikeMoment(site));
      return step;
    }
    const rows = await siteDatabase.run(findAlike(site, due, until, STEP_RECORDS, [...PLACEHOLDER_BIRTH_DATES]));
    const records = new Set(rows.map(({ id }) => id)).size;
    const last = records < STEP_RECORDS ? undefined : rows.at(-1);
    const after = last === undefined ? null : { after_at: last.last_updated, after_id: last.id };
    const pairs = pairsOf(rows);
    await siteDatabase.batch([...(pairs.length === 0 ? [] : [addAlike(site, pairs)]), setAlikePosition(site, after)]);
    return { ...step, progress: { done: progress.done + records, total: null } };
  },
});

/**
 * A record with the oldest of its likes; the oldest with each. So n equal records have n − 1 pairs. A dismissed pair is not
 * listed again.
 */
function pairsOf(rows: readonly AlikeRow[]): AlikePair[] {
  const pairs = new Map<string, AlikePair>();
  for (const [id, found] of Map.groupBy(rows, (row) => row.id)) {
    const placeholders = new Set(found[0]?.placeholder_birth_dates);
    const alike = found
      .filter(({ other, listed }) => other !== null && listed !== 'dismissed')
      .filter((row) => areAlike(read(id, row.person), read(row.other ?? '', row.other_person), placeholders))
      .map((row) => ({ pair: pairOf(row), isListed: row.listed !== null }))
      .toSorted((one, other) => (one.pair.a + one.pair.b < other.pair.a + other.pair.b ? -1 : 1));
    const withOldest = alike.filter(({ pair }) => pair.b === id).slice(0, 1);
    for (const { pair, isListed } of withOldest.length === 0 ? alike : withOldest)
      if (!isListed) pairs.set(`${pair.a} ${pair.b}`, pair);
  }
  return [...pairs.values()];
}

function read(id: string, person: string | null): JsonObject & { readonly id: string } {
  const content = parseJson(person ?? '{}');
  return { ...(isJsonObject(content) ? content : {}), id };
}

function pairOf({ id, version, other, other_version: otherVersion }: AlikeRow): AlikePair {
  const [a, b] = [
    { id, version },
    { id: other ?? '', version: otherVersion ?? 0 },
  ].toSorted((one, next) => (one.id < next.id ? -1 : 1));
  return { a: a?.id ?? '', b: b?.id ?? '', version_a: a?.version ?? 0, version_b: b?.version ?? 0 };
}
