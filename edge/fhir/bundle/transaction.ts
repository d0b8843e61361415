/**
 * transaction (FHIR R4 http, 3.1.0.11.2): all entries or none, in one database call. Creates are resolved first, then
 * updates, then references; reads see what was written.
 */
import { Fault, type Issue } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { LookupRow } from '../../store/resource-lookup.ts';
import type { RequiredResource } from '../../store/resource.ts';
import { requireAnswered, type TransactionRow, writeTransaction } from '../../store/transaction.ts';
import { isBlind } from '../conditions.ts';
import { requireAffordableQueries } from '../cost.ts';
import {
  type Answer,
  auditedTogether,
  type Interaction,
  type RequestContext,
  type RowsOf,
  searchedBy,
} from '../interaction.ts';
import { issuesOf } from '../outcome.ts';
import { notFound } from '../read.ts';
import { type CheckedWrite, locksOf, planWrite } from '../plan-write.ts';
import { explainRows, issueWithin, requireDone, type RowOrigin } from '../refused-write.ts';
import { requireValid } from '../resource-body.ts';
import { present, resolutions, rowAnswer } from '../run-write.ts';
import { type PlacedCondition, placeConditions, type PlacedWrite } from './conditions.ts';
import { type Entry, inTurn, readQueries } from './entries.ts';
import { planEntry } from './plan-entry.ts';
import { answerEntry, responseBundle } from './response.ts';
import { createSettler } from './settle.ts';

interface Placed {
  readonly entry: Entry;
  /** Its place among the entries, and so in the response. */
  readonly index: number;
}
type CheckedEntry = Placed & { readonly checked: CheckedWrite };
type ReadEntry = Placed & { readonly interaction: Interaction };
type WriteEntry = Placed & PlacedWrite;

/** Every item through one step, all their faults at once; the first gives the status. */
async function each<Item extends Pick<Placed, 'entry'>, T>(
  items: readonly Item[],
  step: (item: Item) => Promise<T> | T,
): Promise<T[]> {
  const done: T[] = [];
  let first: Fault | undefined;
  const issues: Issue[] = [];
  for (const item of items) {
    try {
      done.push(await step(item));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      first ??= error;
      issues.push(...issuesOf(error).map((issue) => issueWithin(item.entry.at, issue)));
    }
  }
  if (first === undefined) return done;
  throw first.with({ issues });
}

/**
 * `fullUrl` to what the entry makes (R4 bundle, 2.36.4; bdl-7: a fullUrl is unique in a bundle).
 *
 * @param root our own `{base}/fhir`
 */
function targetsOf(checkedEntries: readonly CheckedEntry[], root: string): Map<string, string> {
  const targets = new Map<string, string>();
  const issues: Issue[] = [];
  for (const { entry, checked } of checkedEntries) {
    if (entry.fullUrl === null) continue;
    if (targets.has(entry.fullUrl)) {
      issues.push({ code: 'duplicate', message: 'another entry has this fullUrl', at: `${entry.at}.fullUrl` });
    }
    const target = `${checked.type}/${checked.id}`;
    const isUpdate = checked.interaction !== 'create' && checked.foundBy === null;
    const isOurs = entry.fullUrl.startsWith(`${root}/`);
    if (isUpdate && isOurs && !`${entry.fullUrl}/`.startsWith(`${root}/${target}/`)) {
      // References to the resource of the fullUrl would become references to the one of the URL: another patient.
      const message = 'the fullUrl is that of another resource than the url of the request';
      issues.push({ code: 'value', message, at: `${entry.at}.fullUrl` });
    }
    targets.set(entry.fullUrl, target);
  }
  if (issues.length > 0) throw new Fault('malformed', 'an entry has a wrong fullUrl', { issues });
  return targets;
}

/**
 * The reads run after the writes, so the result of a read must not be able to undo the writes.
 *
 * @throws Fault `malformed` for a read that fails where the version is another
 */
function refuseIfMatch({ headers }: Entry): void {
  if (headers.get('if-match') === null) return;
  const message = 'a GET in a transaction cannot have ifMatch: use it with a PUT, or send a batch';
  throw new Fault('malformed', message, { issues: [{ code: 'not-supported', message }] });
}

/** Checks each entry by itself. */
async function checkEntries(
  context: RequestContext,
  entries: readonly Entry[],
  found: ReadonlyMap<Entry, readonly LookupRow[]>,
): Promise<{ readonly checkedEntries: readonly CheckedEntry[]; readonly reads: readonly ReadEntry[] }> {
  const checkedEntries: CheckedEntry[] = [];
  const reads: ReadEntry[] = [];
  await each(
    entries.map((entry, index) => ({ entry, index })),
    async ({ entry, index }) => {
      const plan = await planEntry(context, entry, found.get(entry));
      if (plan.kind === 'write') {
        checkedEntries.push({ entry, index, checked: plan.checked });
        return;
      }
      refuseIfMatch(entry);
      const { target } = plan.interaction;
      if (target !== undefined && !isUuid(target.id)) throw notFound(target.type);
      reads.push({ entry, index, interaction: plan.interaction });
    },
  );
  return { checkedEntries, reads };
}

interface SettledWrites {
  readonly writes: readonly WriteEntry[];
  /** In the order in which they are resolved. */
  readonly placed: readonly PlacedCondition[];
  /** For each conditional reference the names of its parameters. */
  readonly searched: readonly (readonly string[])[];
}

/** Replaces the references between the entries, and places the conditions. */
async function settleWrites(context: RequestContext, checkedEntries: readonly CheckedEntry[]): Promise<SettledWrites> {
  const settler = createSettler(context, targetsOf(checkedEntries, context.root));
  const writes = await each(checkedEntries, ({ entry, index, checked }): WriteEntry => {
    const planned = planWrite(context, checked, (resource) => {
      const { settled, isLinked } = settler.settle(entry, resource);
      // Only now a link to an entry shows the type of its target, which the element may not allow.
      return isLinked ? requireValid(context, checked.type, settled) : settled;
    });
    return { entry, index, at: entry.at, planned };
  });
  requireAffordableQueries(settler.conditions.map(({ query }) => query));
  const { creates = [], updates = [] } = Object.groupBy(writes, ({ entry }) =>
    entry.method === 'POST' ? 'creates' : 'updates',
  );
  const placed = placeConditions(creates, updates, settler.conditions, context.budget);
  return { writes, placed, searched: settler.conditions.map(({ names }) => names) };
}

/** @param resolved the ids that conditions found, by placeholder */
async function answerOf(
  context: RequestContext,
  { writes, reads }: { readonly writes: readonly WriteEntry[]; readonly reads: readonly ReadEntry[] },
  rows: readonly TransactionRow[],
  resolved: ReadonlyMap<string, string>,
  rowsOf: RowsOf,
): Promise<Answer> {
  const rowOf = new Map(rows.flatMap((row) => (row.part === 'row' ? [[row.ordinal, row] as const] : [])));
  const writeAnswers = writes.map(({ index, planned }, n) => {
    return [index, answerEntry(rowAnswer(context, planned, present(rowOf.get(n)), resolved))] as const;
  });
  const readAnswers = await inTurn(reads, async ({ index, interaction }) => {
    return [index, answerEntry(await interaction.answer(rowsOf))] as const;
  });
  const answers = [...writeAnswers, ...readAnswers].toSorted(([a], [b]) => a - b);
  return responseBundle(
    'transaction',
    answers.map(([, text]) => text),
  );
}

/**
 * @param found the resources that the patches among the entries change
 * @param room the bytes of the resources that its reads answer
 * @throws Fault of the first entry that cannot be done, with the issues of all
 */
export async function prepareTransaction(
  context: RequestContext,
  entries: readonly Entry[],
  found: ReadonlyMap<Entry, readonly LookupRow[]>,
  room: number,
): Promise<Interaction> {
  const { checkedEntries, reads } = await checkEntries(context, entries, found);
  const { writes, placed, searched } = await settleWrites(context, checkedEntries);
  const conditions = placed.map(({ condition }) => condition);
  const conditionOrigin = (ordinal: number): RowOrigin => {
    const { condition, at } = present(placed[ordinal]);
    const { kind, type } = condition;
    return { type, at, isPatch: kind === 'patch', isBlind: kind === 'reference' && isBlind(context, type) };
  };
  const targets = reads.flatMap(({ entry, interaction: { target } }): (RequiredResource & { at: string })[] =>
    target === undefined ? [] : [{ ...target, at: entry.at }],
  );
  const planned = writes.map((write) => write.planned);
  const { queries, written } = writeTransaction(
    context.caller.site,
    { writes: planned.map(({ write }) => write), conditions },
    locksOf(planned),
    targets.map(({ type, id, version }) => ({ type, id, version })),
  );
  const origins: RowOrigin[] = [
    ...writes.map(({ at, planned: { type, isPatch, condition } }) => ({
      at,
      type,
      isPatch,
      isBlind: condition?.kind === 'update' && isBlind(context, type),
    })),
    ...targets,
  ];

  return {
    audited: auditedTogether('transaction', [
      ...reads.map(({ interaction }) => searchedBy(interaction)),
      ...planned.map(({ searched }) => searched),
      ...searched,
    ]),
    queries: [
      ...queries,
      ...readQueries(
        reads.map(({ interaction }) => interaction),
        room,
      ),
      ...(reads.length === 0 ? [] : [requireAnswered]),
    ],
    explain: (fault) => explainRows(fault, origins),
    answer: (rowsOf) => {
      const rows = rowsOf(written);
      requireDone(rows, origins, conditionOrigin);
      const resolved = resolutions(
        rows,
        conditions.map(({ placeholder }) => placeholder),
      );
      return answerOf(context, { writes, reads }, rows, resolved, rowsOf);
    },
  };
}
