/**
 * The database over Neon's HTTP driver, and the one place where its errors become Faults. A batch is one transaction
 * and one HTTP request. The driver retries nothing, and neither do we: a caller knows what may be repeated.
 */
import { neon, neonConfig, NeonDbError } from '@neondatabase/serverless';

import { Fault, type FaultKind } from '../../shared/fault.ts';
import type { Config } from '../config.ts';
import type { Database, Param, Query, Results } from '../deps.ts';
import { columnTypes } from '../store/column-types.ts';

/** SQLSTATEs that say something about the request; those of class GW are raised by our own functions (migrations). */
const FAULTS: Readonly<Record<string, { kind: FaultKind; message: string; code?: string }>> = {
  GW401: { kind: 'unauthenticated', message: 'the token is no longer valid', code: 'invalid_token' },
  GW404: { kind: 'not-found', message: 'no such resource' },
  GW409: { kind: 'conflict', message: 'the request conflicts with another' },
  GW412: { kind: 'precondition-failed', message: 'the resource has another version' },
  GW422: { kind: 'invalid', message: 'a referenced resource is not in the site', code: 'not-found' },
  '40001': { kind: 'unavailable', message: 'busy, try again' },
  '40P01': { kind: 'unavailable', message: 'busy, try again' },
  '55P03': { kind: 'unavailable', message: 'busy, try again' },
  '57014': { kind: 'unavailable', message: 'the database took too long' },
};
/** Connection failure, insufficient resources, operator intervention, system error (PostgreSQL appendix A). */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);

/** The detail of our own SQLSTATEs is a JSON array of positions: safe to show. */
function positions(error: NeonDbError): string[] {
  const parsed: unknown = error.code?.startsWith('GW') && error.detail ? JSON.parse(error.detail) : [];
  return Array.isArray(parsed) ? parsed.map(String) : [];
}

function toFault(error: unknown): unknown {
  if (!(error instanceof NeonDbError)) return error;
  const state = error.code ?? '';
  const known = FAULTS[state];
  if (known !== undefined) {
    return new Fault(known.kind, known.message, {
      ...(known.code === undefined ? {} : { code: known.code }),
      issues: positions(error).map((at) => ({ code: state, message: known.message, at })),
      cause: error,
    });
  }
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
