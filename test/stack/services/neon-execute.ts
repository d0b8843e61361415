/**
 * Runs the statements of one Neon request on one PostgreSQL connection, unnamed and in text format. Results and database
 * errors have the members of Neon's proxy.
 */
import { DatabaseError, type PoolClient, type QueryArrayResult } from 'pg';
import type { NeonRequest, Statement } from './neon-request.ts';

/** The result of one statement: every value as PostgreSQL's text, or null. */
export interface NeonResult {
  readonly fields: QueryArrayResult['fields'];
  readonly rows: readonly (string | null)[][];
  readonly command: string;
  readonly rowCount: number | null;
  readonly rowAsArray: true;
}

/** The text as received: the driver parses types itself. */
const types = { getTypeParser: () => (value: string) => value };

/**
 * A single query in its own transaction, or a batch between `begin` and `commit`. The client is in pipeline mode and sends
 * the batch without waiting. After an error PostgreSQL rejects the rest and turns the commit into a rollback.
 *
 * @throws DatabaseError of the first statement that failed
 */
export async function execute(client: PoolClient, request: NeonRequest): Promise<NeonResult[]> {
  if (request.begin === undefined) return Promise.all(request.statements.map((statement) => run(client, statement)));
  const plain = (query: string): Statement => ({ query, params: [] });
  const all = [plain(request.begin), ...request.statements, plain('commit')];
  const { stream } = client.connection;
  // One write to the socket, not one for each.
  stream.cork();
  const running = all.map((statement) => run(client, statement));
  stream.uncork();
  const outcomes = await Promise.allSettled(running);
  const results = outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
  return results.slice(1, -1);
}

async function run(client: PoolClient, statement: Statement): Promise<NeonResult> {
  // Always the extended protocol: several commands in one string are refused, as by Neon.
  const query = { text: statement.query, values: [...statement.params], rowMode: 'array' as const, types };
  const extended = { ...query, queryMode: 'extended' };
  const result = await client.query<(string | null)[]>(extended);
  const { fields, rows, command, rowCount } = result;
  return { fields, rows, command, rowCount, rowAsArray: true };
}

/** The members of a 400; the driver copies all but the message onto its NeonDbError. */
export function printDatabaseError(error: DatabaseError): Record<string, string | undefined> {
  return {
    message: error.message,
    severity: error.severity,
    code: error.code,
    detail: error.detail,
    hint: error.hint,
    position: error.position,
    internalPosition: error.internalPosition,
    internalQuery: error.internalQuery,
    where: error.where,
    schema: error.schema,
    table: error.table,
    column: error.column,
    dataType: error.dataType,
    constraint: error.constraint,
    file: error.file,
    line: error.line,
    routine: error.routine,
  };
}
