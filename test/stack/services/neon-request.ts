/**
 * Parses a request of Neon's SQL-over-HTTP protocol, as `@neondatabase/serverless` 1.2 sends it: statements, user and kind
 * of transaction. It rejects everything that Neon's proxy rejects.
 */
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';

/** One statement: parameters are PostgreSQL's text format or null. */
export interface Statement {
  readonly query: string;
  readonly params: readonly (string | null)[];
}

export interface NeonRequest {
  /** From `Neon-Connection-String`; its host is ignored, the local server is meant. */
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly statements: readonly Statement[];
  /** The statement that opens the transaction of a batch; undefined for a single query. */
  readonly begin: string | undefined;
}

/** A request that is not valid: answered 400 with a message and no SQLSTATE. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
}

/** PostgreSQL counts parameters in 16 bits. */
const MAX_PARAMS = 65_535;

// A lone surrogate is not UTF-8, and the wire ends a statement at NUL; a NUL in a parameter is PostgreSQL's to refuse.
const text = z.string().refine((value) => value.isWellFormed(), 'lone surrogate in a string');
const statement = z.object({
  query: text.refine((value) => !value.includes('\0'), 'a statement contains NUL'),
  params: z
    .array(z.union([text, z.null(), z.union([z.number(), z.boolean()]).transform(String)]))
    .max(MAX_PARAMS)
    .default([]),
});
const batch = z.object({ queries: z.array(statement) });
const isBatch = (content: unknown): boolean => typeof content === 'object' && content !== null && 'queries' in content;

const ISOLATION_LEVELS: ReadonlyMap<string, string> = new Map([
  ['ReadUncommitted', 'read uncommitted'],
  ['ReadCommitted', 'read committed'],
  ['RepeatableRead', 'repeatable read'],
  ['Serializable', 'serializable'],
]);

/** @throws NotUnderstood for a request that the driver would not send */
export function readNeonRequest(headers: IncomingHttpHeaders, content: string): NeonRequest {
  const header = (name: string) => String(headers[name] ?? '');
  if (header('neon-raw-text-output') !== 'true' || header('neon-array-mode') !== 'true') {
    throw new NotUnderstood('only raw text output in array mode is spoken here, as the driver asks for it');
  }
  const { user, password, database } = loginOf(header('neon-connection-string'));
  const body = readJson(content);
  if (isBatch(body)) {
    const { queries } = read(batch, body);
    return { user, password, database, statements: queries, begin: beginOf(header) };
  }
  return { user, password, database, statements: [read(statement, body)], begin: undefined };
}

function read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new NotUnderstood(`the body is not a query: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function beginOf(header: (name: string) => string): string {
  const clauses = ['begin'];
  const isolation = header('neon-batch-isolation-level');
  if (isolation !== '') {
    const level = ISOLATION_LEVELS.get(isolation);
    if (level === undefined) throw new NotUnderstood(`Neon-Batch-Isolation-Level ${isolation} is unknown`);
    clauses.push(`isolation level ${level}`);
  }
  if (header('neon-batch-read-only') === 'true') clauses.push('read only');
  if (header('neon-batch-deferrable') === 'true') clauses.push('deferrable');
  return clauses.join(' ');
}

type Login = Pick<NeonRequest, 'user' | 'password' | 'database'>;

/** Those that were read, which are few: a gateway has one. */
const logins = new Map<string, Login>();

function loginOf(connectionString: string): Login {
  const known = logins.get(connectionString);
  if (known !== undefined) return known;
  const login = readConnectionString(connectionString);
  logins.set(connectionString, login);
  return login;
}

function readConnectionString(value: string): Login {
  if (!URL.canParse(value)) throw new NotUnderstood('Neon-Connection-String is no URL');
  const url = new URL(value);
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent);
  if (!/^postgres(ql)?:$/.test(url.protocol) || !user || !database || password === undefined) {
    throw new NotUnderstood('Neon-Connection-String needs a postgres: URL with user and database');
  }
  return { user, password, database };
}

function readJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new NotUnderstood('the body is not JSON');
  }
}
