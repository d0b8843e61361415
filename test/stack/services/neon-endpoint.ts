/**
 * An HTTP server that speaks Neon's SQL-over-HTTP protocol to the real `@neondatabase/serverless` driver, in front of a
 * plain PostgreSQL. It listens on the loopback interface, and PostgreSQL checks the user and password of the connection string.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { DatabaseError, Pool } from 'pg';
import { KEEP_ALIVE_MS } from './keep-alive.ts';
import { execute, printDatabaseError } from './neon-execute.ts';
import { type NeonRequest, NotUnderstood, readNeonRequest } from './neon-request.ts';

export interface NeonEndpointOptions {
  /** User, password and database come with each request. */
  readonly databaseUrl: string;
  /** 0 or undefined: a free one. */
  readonly port?: number;
  readonly host?: string;
  /** Connections to each database, shared by all of its requests in order of arrival. Default 16. */
  readonly connections?: number;
  /** Called for each request before it runs: what was asked for, in how many statements. */
  readonly onRequest?: (request: NeonRequest) => void;
}

export interface NeonEndpoint {
  /** For `neonConfig.fetchEndpoint`. */
  readonly url: string;
  readonly port: number;
  /**
   * HTTP requests for the database so far, each of which the driver would have sent to Neon: round trips, without bookkeeping.
   * The driver has one endpoint for a process, so one also gets what an earlier test file has left unfinished.
   */
  requests(): number;
  close(): Promise<void>;
}

const POOL_SIZE = 16;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Usage is counted in the background, for many requests at once. */
export const isBookkeeping = (statement: string): boolean =>
  /^select (?:usage_noted|refusals_note|sidecar_note|sidecar_refusal_note)\(/.test(statement);

interface Answer {
  readonly status: number;
  readonly type: 'application/json' | 'text/plain';
  readonly body: string;
}

const text = (status: number, body: string): Answer => ({ status, type: 'text/plain', body });
const json = (status: number, body: unknown): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});

/** Starts the endpoint. It survives an outage of PostgreSQL, and reconnects afterwards. */
export async function startNeonEndpoint(options: NeonEndpointOptions): Promise<NeonEndpoint> {
  const host = options.host ?? '127.0.0.1';
  const pools = poolsOf(new URL(options.databaseUrl), options.connections ?? POOL_SIZE);
  const name = new URL(options.databaseUrl).pathname.slice(1);
  let requests = 0;

  const answer = async (request: IncomingMessage): Promise<Answer> => {
    if (request.method !== 'POST') return text(405, 'POST a query');
    const content = await readBody(request);
    if (content === undefined) return text(413, `a request may have ${MAX_BODY_BYTES} bytes`);
    const query = readNeonRequest(request.headers, content);
    if (query.database === name) {
      if (!query.statements.some(({ query: text }) => isBookkeeping(text))) requests += 1;
      options.onRequest?.(query);
    }
    const results = await pools.use(query);
    return json(200, query.begin === undefined ? results[0] : { results });
  };

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void answer(request)
      .catch(refusal)
      .then(({ status, type, body }) => {
        response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
      });
  });
  // Node's queue of 511 makes a burst of a thousand connections wait for TCP to send its SYN again.
  server.listen({ port: options.port ?? 0, host, backlog: 4096 });
  await once(server, 'listening').catch((cause: unknown) => {
    throw new Error(`port ${options.port} for the Neon endpoint cannot be used: choose another`, { cause });
  });
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;

  const close = async () => {
    server.close();
    server.closeAllConnections();
    await pools.close();
  };
  return { url: `http://${host}:${port}/sql`, port, requests: () => requests, close };
}

/** An error of PostgreSQL is 400 with its SQLSTATE; any other has none, and the driver reports no database error. */
function refusal(error: unknown): Answer {
  if (error instanceof DatabaseError) return json(400, printDatabaseError(error));
  if (error instanceof NotUnderstood) return json(400, { message: error.message });
  return text(503, `the database cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
}

function poolsOf(
  server: URL,
  max: number,
): {
  use: (request: NeonRequest) => ReturnType<typeof execute>;
  close: () => Promise<void>;
} {
  const pools = new Map<string, Pool>();
  const poolFor = ({ user, password, database }: NeonRequest): Pool => {
    const key = JSON.stringify([user, password, database]);
    const found = pools.get(key);
    if (found !== undefined) return found;
    const address = { host: server.hostname, port: Number(server.port || '5432') };
    const pool = new Pool({ ...address, user, password, database, max, pipeline: true });
    // An idle connection that breaks leaves the pool; the next request opens another.
    pool.on('error', () => undefined);
    // A connection that breaks in use reports to its request, and also emits; unhandled, that would end the process.
    pool.on('connect', (client) => client.on('error', () => undefined));
    pools.set(key, pool);
    return pool;
  };

  const use = async (request: NeonRequest) => {
    const client = await poolFor(request).connect();
    let usable = false;
    try {
      const results = await execute(client, request);
      usable = true;
      return results;
    } catch (error) {
      usable = error instanceof DatabaseError && error.severity === 'ERROR';
      throw error;
    } finally {
      // A statement such as `begin` outside a batch must not reach the next request.
      client.release(!usable || client.getTransactionStatus() !== 'I');
    }
  };
  const close = async () => {
    await Promise.all([...pools.values()].map((pool) => pool.end()));
  };
  return { use, close };
}

/** By its events: to iterate over it takes several promises for each request. @returns undefined where it is too long */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    });
    request.on('end', () => resolve(bytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
  });
}
