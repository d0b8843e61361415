/**
 * The database over Neon's HTTP driver, whose errors become Faults here. A batch is one transaction
 * and one HTTP request. The driver retries nothing, and neither do we: a caller knows what may be repeated.
 */
import { neon, neonConfig, NeonDbError } from '@neondatabase/serverless';

import { Fault } from '../../shared/fault.ts';
import type { Config } from '../config.ts';
import type { Database, Param, Query, Results } from '../deps.ts';
import { columnTypes } from '../store/column-types.ts';
import { faultOfState } from '../store/sqlstate.ts';

/** Connection failure, insufficient resources, operator intervention, system error (PostgreSQL appendix A). */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);

function toFault(error: unknown): unknown {
  if (!(error instanceof NeonDbError)) return error;
  const state = error.code ?? '';
  const known = faultOfState(state, error.detail, error);
  if (known !== undefined) return known;
  // Without an SQLSTATE the endpoint itself could not be reached or did not speak to PostgreSQL.
  if (state === '' || UNAVAILABLE_CLASSES.has(state.slice(0, 2))) {
    return new Fault('unavailable', 'the database cannot be reached', { cause: error });
  }
  return error;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hex(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += HEX[byte];
  return out;
}

/** Arrays become PostgreSQL array literals and bytes hex, so that the driver sends plain text. */
function parameter(value: Param): string | number | boolean | null {
  if (value instanceof Uint8Array) return `\\x${hex(value)}`;
  if (typeof value !== 'object' || value === null) return value;
  return `{${value.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** @param config the connection string, and the endpoint to post to when it is not Neon's own */
export function neonDatabase(config: Pick<Config, 'DATABASE_URL' | 'DATABASE_FETCH_ENDPOINT'>): Database {
  const endpoint = config.DATABASE_FETCH_ENDPOINT;
  if (endpoint !== undefined) neonConfig.fetchEndpoint = endpoint;
  const connect = neon(config.DATABASE_URL);
  const prepare = (query: Query) => connect.query(query.text, query.params.map(parameter), { types: columnTypes });

  return {
    async run<Row extends object>(query: Query<Row>): Promise<Row[]> {
      try {
        // The rows are what the query's author declared them to be: this is the door.
        return (await prepare(query)) as Row[];
      } catch (error) {
        throw toFault(error);
      }
    },
    async batch<const Queries extends readonly Query[]>(queries: Queries): Promise<Results<Queries>> {
      try {
        return (await connect.transaction(queries.map(prepare), { types: columnTypes })) as unknown as Results<Queries>;
      } catch (error) {
        throw toFault(error);
      }
    },
  };
}
