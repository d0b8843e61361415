/**
 * The database as a request with a session may use it: the first statement of each batch asserts the session, so that one
 * that has ended reads and writes nothing, without a round trip of its own.
 */
import type { Database, Query, Results, TimeLimits } from '../../deps.ts';

export interface Guard {
  readonly database: Database;
  /** For a request that has asked the database nothing: asserts the session now. @throws Fault `unauthenticated` */
  readonly settle: () => Promise<void>;
}

/** @param assertion fails a batch whose session has ended */
export function guard(database: Database, assertion: Query): Guard {
  let isAsserted = false;

  const batch = async <const Queries extends readonly Query[]>(queries: Queries, limits?: TimeLimits) => {
    const [, ...results] = await database.batch([assertion, ...queries], limits);
    isAsserted = true;
    // One result for each query, the assertion's own taken off.
    return results as unknown as Results<Queries>;
  };

  return {
    database: {
      batch,
      async run<Row extends object>(query: Query<Row>, limits?: TimeLimits): Promise<Row[]> {
        const [rows] = await batch([query] as const, limits);
        return rows;
      },
    },
    async settle() {
      if (!isAsserted) await database.run(assertion);
    },
  };
}
