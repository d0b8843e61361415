/**
 * batch (FHIR R4 http, 3.1.0.11.1): each entry for itself, answered as it would be alone, all in one database call.
 * Entries cannot refer to each other.
 */
import { Fault } from '../../../shared/fault.ts';
import type { SeenRow } from '../../store/resource-seen.ts';
import { type BatchRow, type Transaction, writeBatch } from '../../store/transaction.ts';
import { auditedTogether, type Interaction, type RequestContext, searchedBy } from '../interaction.ts';
import { lockOf, planWrite, type PlannedWrite } from '../plan-write.ts';
import { requireDone } from '../refused-write.ts';
import { present, rowAnswer } from '../run-write.ts';
import { localMatches } from './conditions.ts';
import type { Entry } from './entries.ts';
import { planEntry } from './plan-entry.ts';
import { answerEntry, faultEntry, responseBundle } from './response.ts';

/** What the entry comes to, or the Fault that its own answer tells. */
async function entryText(work: () => Promise<string> | string): Promise<string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault) return faultEntry(error);
    throw error;
  }
}

/** A create also finds what entries before it create: they are done in order. */
function unitsOf(writes: readonly PlannedWrite[]): Transaction[] {
  return writes.map(({ write, condition }, index) => ({
    writes: [write],
    conditions: condition === null ? [] : [{ ...condition, local: localMatches(condition, writes.slice(0, index)) }],
  }));
}

function writtenEntry(context: RequestContext, planned: PlannedWrite, rows: readonly BatchRow[]): string {
  const origin = { type: planned.type, at: null, isPatch: planned.isPatch };
  requireDone(rows, [origin], () => origin);
  const found = rows.find((row) => row.part === 'condition')?.id ?? null;
  const resolved = new Map(found === null ? [] : [[planned.write.id, found]]);
  return answerEntry(rowAnswer(context, planned, present(rows.find((row) => row.part === 'row')), resolved));
}

/** @param seen what patches among the entries are about */
export async function prepareBatch(
  context: RequestContext,
  entries: readonly Entry[],
  seen: ReadonlyMap<Entry, readonly SeenRow[]>,
): Promise<Interaction> {
  const { site } = context.caller;
  const answers: string[] = [];
  const writes: { readonly index: number; readonly planned: PlannedWrite }[] = [];
  const reads: { readonly index: number; readonly interaction: Interaction }[] = [];
  for (const [index, entry] of entries.entries()) {
    answers[index] = await entryText(async () => {
      const plan = await planEntry(context, entry, seen.get(entry));
      if (plan.kind === 'write') writes.push({ index, planned: planWrite(context, plan.draft) });
      else reads.push({ index, interaction: plan.interaction });
      return '';
    });
  }

  const planned = writes.map((write) => write.planned);
  const lock = lockOf(site, planned);
  const locks = lock === undefined ? [] : [lock];
  const writing = writes.length === 0 ? [] : [writeBatch(site, unitsOf(planned))];

  return {
    audited: auditedTogether('batch', [
      ...reads.map(({ interaction }) => searchedBy(interaction)),
      ...planned.map(({ searched }) => searched),
    ]),
    queries: [...locks, ...writing, ...reads.flatMap(({ interaction }) => interaction.queries)],
    answer: async (results) => {
      // The rows are those of `writing`: the database answers in the order of the queries.
      const rows = (writing.length === 0 ? [] : (results[locks.length] ?? [])) as readonly BatchRow[];
      const byEntry = Map.groupBy(rows, ({ entry }) => entry);
      for (const [n, { index, planned }] of writes.entries()) {
        answers[index] = await entryText(() => writtenEntry(context, planned, byEntry.get(n) ?? []));
      }
      let from = locks.length + writing.length;
      for (const { index, interaction } of reads) {
        const until = from + interaction.queries.length;
        answers[index] = await entryText(async () => answerEntry(await interaction.answer(results.slice(from, until))));
        from = until;
      }
      return responseBundle('batch', answers);
    },
  };
}
