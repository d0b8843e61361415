/**
 * Work of background jobs side by side that shares its round trips. Calls to the database wait until each piece of work that has not ended waits for
 * one. Then all calls are one transaction.
 */
import type { Database, Query, Results } from '../deps.ts';
import { JOB_LIMITS } from './time-limits.ts';

interface Call {
  readonly queries: readonly Query[];
  readonly done: (results: object[][]) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * @param answerBytes the most that the answers of several calls have together; more is Fault `unavailable` for each of them
 * @param work waits only for calls to its database: other waiting delays the calls of all
 * @returns the results in the order of the items
 */
export async function together<Item, Result>(
  database: Database,
  items: readonly Item[],
  answerBytes: number,
  work: (item: Item, database: Database) => Promise<Result>,
): Promise<Result[]> {
  let working = items.length;
  const calls: Call[] = [];

  const sendIfAllWait = (): void => {
    if (calls.length === 0 || calls.length < working) return;
    const sent = calls.splice(0);
    const limits = sent.length > 1 ? { ...JOB_LIMITS, answerBytes } : JOB_LIMITS;
    database
      .batch(
        sent.flatMap(({ queries }) => queries),
        limits,
      )
      .then(
        (results: object[][]) => {
          let at = 0;
          for (const { queries, done } of sent) done(results.slice(at, (at += queries.length)));
        },
        (error: unknown) => {
          for (const { fail } of sent) fail(error);
        },
      );
  };
  const ask = (queries: readonly Query[]): Promise<object[][]> =>
    new Promise((done, fail) => {
      calls.push({ queries, done, fail });
      sendIfAllWait();
    });
  const joint: Database = {
    run: async <Row extends object>(query: Query<Row>) => (await ask([query]))[0] as Row[],
    batch: async <const Queries extends readonly Query[]>(queries: Queries) => (await ask(queries)) as Results<Queries>,
  };
  const ended = (): void => {
    working -= 1;
    sendIfAllWait();
  };
  const all = items.map((item) => work(item, joint).finally(ended));
  // Every piece of work ends before an error of one is reported: none asks the database afterwards.
  await Promise.allSettled(all);
  return Promise.all(all);
}
