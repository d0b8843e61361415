/**
 * FHIR interactions that are one call of a function each (migrations/functions/fhir_*.sql). A bundle sends the call as one of
 * its statements. A single request sends it with the caller too: then the function checks the caller and writes the audit row.
 */
import type { Param, Query } from '../deps.ts';
import { callerArguments, type CallerIdentity } from './api-key.ts';

/** The caller of a request, and the facts that the audit records beside the resources. */
export interface Access {
  readonly caller: CallerIdentity;
  readonly address: string;
  readonly requestId: string;
  /** The names of a search's parameters; null: no search. */
  readonly searched: readonly string[] | null;
}

/** A statement of a bundle that can also be a complete request. */
export interface FhirCall<Row extends object = object> extends Query<Row> {
  readonly asRequest: (access: Access) => Query<Row>;
}

export const isFhirCall = (query: Query): query is FhirCall => 'asRequest' in query;

/** The last arguments of each function, p_deadline to p_searched; edge/platform/database.ts adds the first three. */
const REQUEST_ARGUMENTS = 11;

const placeholders = (from: number, count: number): string[] => Array.from({ length: count }, (_, n) => `$${from + n}`);

/**
 * Makes calls of a function.
 *
 * @param count the number of arguments before p_deadline; they have no casts, because the function declares their types
 */
export function fhirFunction<Row extends object>(
  name: string,
  count: number,
  kind: 'reads' | 'writes',
): (...own: Param[]) => FhirCall<Row> {
  const text = `select * from ${name}(${placeholders(1, count).join(', ')})`;
  const own = placeholders(1 + REQUEST_ARGUMENTS, count);
  const requestText = `select * from ${name}(${[...own, ...placeholders(1, REQUEST_ARGUMENTS)].join(', ')})`;
  return (...params) => ({
    text,
    params,
    ...(kind === 'reads' ? { reads: true } : {}),
    asRequest: ({ caller, address, requestId, searched }) => {
      const [site, ...identity] = callerArguments(caller);
      const request = [...identity, address, requestId, searched];
      const notes = kind === 'reads' ? ({ notes: true } as const) : {};
      return { text: requestText, params: [...request, ...params], ...notes, standalone: true, site };
    },
  });
}
