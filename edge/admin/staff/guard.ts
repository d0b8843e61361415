/**
 * The database of a request with a session: the first statement of each batch asserts the session. So an ended session reads
 * and writes nothing, and the check costs no round trip.
 */
import type { Database, Query, Results, TimeLimits } from '../../deps.ts';

export interface Guard {
  readonly database: Database;
  /** Asserts the session if no batch did. @throws Fault `unauthenticated` */
  readonly assertOnce: () => Promise<void>;
}

/** @param assertion a statement that fails if the session has ended */
export function guard(database: Database, assertion: Query): Guard {
  let isAsserted = false;

  const batch = async <const Queries extends readonly Query[]>(queries: Queries, limits?: TimeLimits) => {
    const [, ...results] = await database.batch([assertion, ...queries], limits);
    isAsserted = true;
    // One result for each query, without that of the assertion.
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
    async assertOnce() {
      if (!isAsserted) await database.run(assertion);
    },
  };
}
