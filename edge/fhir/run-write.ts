/** A planned write as an interaction of its own, and the rows of any write as answers. */
import { Fault } from '../../shared/fault.ts';
import { type WrittenResource, writeResources } from '../store/resource.ts';
import { lockKeys } from '../store/lock.ts';
import {
  settled,
  type TransactionRow,
  type TransactionWrite,
  type WriteRow,
  writeTransaction,
} from '../store/transaction.ts';
import { writeWhole } from '../store/whole.ts';
import { isBlind } from './conditions.ts';
import { type Answer, type Interaction, interaction, NOTED, type RequestContext } from './interaction.ts';
import { writeAnswer } from './resource-answer.ts';
import { heldBy, lockOf, type PlannedWrite } from './plan-write.ts';
import { explainRows, requireDone } from './refused-write.ts';

/** The plain rows of `resource_write` take fewer steps than a transaction; a plain write has only its mode. */
function isPlain(write: TransactionWrite): write is TransactionWrite & { mode: 'create' | 'update' | 'upsert' } {
  return !write.mode.startsWith('?');
}

/**
 * @param resolved placeholders and what they turned out to be, which stand in the text too
 */
export function rowAnswer(
  context: RequestContext,
  { type, write }: PlannedWrite,
  row: WriteRow | WrittenResource,
  resolved: ReadonlyMap<string, string>,
): Answer {
  const kept = 'body' in row && row.body !== null && row.meta !== null ? { meta: row.meta, body: row.body } : null;
  const content = kept ?? { meta: write.meta, body: settled(write.body, resolved) };
  const { id, version, last_updated, outcome } = row;
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
  const { site } = context.caller;
  const { type, write, condition, searched, isPatch } = planned;
  const origin = { type, at: null, isPatch };
  if (condition === null && isPlain(write)) {
    const explain = (fault: Fault): Fault => explainRows(fault, [origin]);
    const answer = ([row]: WrittenResource[]): Answer => rowAnswer(context, planned, present(row), new Map());
    const { keys, patients } = heldBy([planned]);
    return interaction(
      NOTED,
      [lockKeys(site, keys, patients), writeResources(site, [write])],
      ([, rows]) => answer(rows),
      { explain, whole: (access) => writeWhole(access, { keys, patients }, [write]) },
    );
  }
  const conditions = condition === null ? [] : [condition];
  return interaction(
    { action: null, searched },
    [lockOf(site, [planned]) ?? lockKeys(site, []), writeTransaction(site, { writes: [write], conditions })],
    ([, rows]) => {
      requireDone(rows, [origin], () => origin);
      const row = present(rows.find((one) => one.part === 'row'));
      return rowAnswer(context, planned, row, resolutions(rows, [write.id]));
    },
  );
}

/** Every row sent comes back, or the call raises. */
export function present<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new RangeError('the database left a row out');
  return row;
}
