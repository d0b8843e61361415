/** A planned write as an interaction of its own, and the rows of any write as answers. */
import type { WriteRow } from '../store/resource.ts';
import { settled, type TransactionRow, writeTransaction } from '../store/transaction.ts';
import { isBlind } from './conditions.ts';
import type { Answer, Interaction, RequestContext } from './interaction.ts';
import { writeAnswer } from './resource-answer.ts';
import { locksOf, type PlannedWrite } from './plan-write.ts';
import { explainRows, requireDone } from './refused-write.ts';

/**
 * @param resolved placeholders and what they turned out to be, which stand in the text too
 */
export function rowAnswer(
  context: RequestContext,
  { type, write }: PlannedWrite,
  { id, version, last_updated, outcome, meta = null, body = null }: WriteRow,
  resolved: ReadonlyMap<string, string>,
): Answer {
  const kept = body !== null && meta !== null ? { meta, body } : null;
  const content = kept ?? { meta: write.meta, body: settled(write.body, resolved) };
  // A conditional create that finds a resource must not show it to a caller who may only write. Its content does not come
  // where it does not fit the answer, or an entry before made it: what this entry sent is not what is stored.
  const mayRead = outcome !== 'matched' || (kept !== null && !isBlind(context, type));
  return writeAnswer(context, { type, id, version, last_updated, ...content }, outcome, mayRead);
}

/** What conditions found: placeholder to id. */
export function resolutions(rows: readonly TransactionRow[], placeholders: readonly string[]): Map<string, string> {
  const resolved = new Map<string, string>();
  for (const row of rows) {
    if (row.part === 'failed') continue;
    const placeholder = row.part === 'condition' ? placeholders[row.ordinal] : undefined;
    if (placeholder !== undefined && row.id !== null) resolved.set(placeholder, row.id);
  }
  return resolved;
}

/** One write, alone. */
export function prepareWrite(context: RequestContext, planned: PlannedWrite): Interaction {
  const { type, write, condition, searched, isPatch } = planned;
  const origin = { type, at: null, isPatch };
  const conditions = condition === null ? [] : [condition];
  const { queries, written } = writeTransaction(
    context.caller.site,
    { writes: [write], conditions },
    locksOf([planned]),
  );
  return {
    audited: { action: null, searched },
    queries,
    explain: (fault) => explainRows(fault, [origin]),
    answer: (rowsOf) => {
      const rows = rowsOf(written);
      requireDone(rows, [origin], () => origin);
      return rowAnswer(
        context,
        planned,
        present(rows.find((row) => row.part === 'row')),
        resolutions(rows, [write.id]),
      );
    },
  };
}

/** Every row sent comes back, or the call raises. */
export function present<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new RangeError('the database left a row out');
  return row;
}
