/** A planned write as an interaction, and the rows of any write as answers. */
import type { WriteRow } from '../store/resource.ts';
import { settled, type TransactionRow, writeTransaction } from '../store/transaction.ts';
import { isBlind } from './conditions.ts';
import type { Answer, Interaction, RequestContext } from './interaction.ts';
import { writeAnswer } from './resource-answer.ts';
import { locksOf, type PlannedWrite } from './plan-write.ts';
import { explainRows, requireDone } from './refused-write.ts';

/**
 * @param resolved the id for each placeholder in the text
 */
export function rowAnswer(
  context: RequestContext,
  { type, write }: PlannedWrite,
  { id, version, last_updated, outcome, meta = null, body = null }: WriteRow,
  resolved: ReadonlyMap<string, string>,
): Answer {
  const kept = body !== null && meta !== null ? { meta, body } : null;
  const { withData = (text) => text } = write;
  const content = kept ?? { meta: withData(write.meta), body: withData(settled(write.body, resolved)) };
  // A caller that may only write must not see a resource that a conditional create found. The row has no content where the
  // resource does not fit the answer or an earlier entry created it. Then the stored content is not that of this entry.
  const mayRead = outcome !== 'matched' || (kept !== null && !isBlind(context, type));
  return writeAnswer(context, { type, id, version, last_updated, ...content }, outcome, mayRead);
}

/** The ids that conditions found, by placeholder. */
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

/** @throws RangeError where the database call did not return a row for each write */
export function present<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new RangeError('the database left a row out');
  return row;
}
