/**
 * A real PostgreSQL 18 on this machine, from the binaries that npm brings; loopback only, no socket file, nothing of the
 * system's touched. It ends with the process that started it, even after a crash (guard.ts).
 */
import { once } from 'node:events';
import { chown, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { freePort } from './free-port.ts';
import type { Certificate } from './certificate.ts';
import { type Guarded, spawnGuarded } from './guard.ts';
import { postgresBinaries, type RunAs, unprivileged } from './postgres-binaries.ts';
import { type Cluster, clearStaleLock, openCluster, postmasterPid } from './postgres-cluster.ts';
import { removeTemporary, temporaryFolder } from './temporary-folder.ts';

export interface PostgresOptions {
  /** Kept; undefined: a temporary folder that is removed when the server stops. */
  readonly dataDir?: string;
  /** The folder above the temporary folder; default: the system's folder for temporary files. */
  readonly below?: string | undefined;
  /** 0 or undefined: a free one. */
  readonly port?: number;
  /** Server settings, such as `UNSAFE_BUT_FAST`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** For clients with TLS; by default TLS is off. */
  readonly tls?: Certificate;
  /** The server's log, line by line. */
  readonly log?: (line: string) => void;
}

export interface Postgres {
  /** For the database `gateway`, as the role `gateway`, its owner, which may create databases and roles but is not a superuser. */
  readonly url: string;
  readonly port: number;
  /** Ends the server in good order: open transactions are rolled back, the data is on disk. */
  stop(): Promise<void>;
  /** Ends the server as a crash would: SIGKILL, without a checkpoint and with its lock file left. */
  kill(): Promise<void>;
  /** Settles when the server's last process has ended. */
  readonly exited: Promise<void>;
}

/** For data that may be lost in a power failure: tests. Committed data still survives `kill`. */
export const UNSAFE_BUT_FAST = { fsync: 'off', full_page_writes: 'off' } as const;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // Each test file has a pool.
  max_connections: '200',
};

const READY = 'database system is ready to accept connections';
const PORT_IN_USE = 'Address already in use';
/** Between finding a free port and listening on it another program may take it. */
const PORT_ATTEMPTS = 5;
const LOG_TAIL_LINES = 20;

/**
 * Starts a server and waits until the database `gateway` can be used.
 *
 * @throws an Error with the remedy if the port is in use, another server runs on the folder, or the start fails
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port || (await freePort());
    const started = await startOn(port, options);
    if (started !== 'port taken') return started;
    if (options.port) throw new Error(`port ${port} for PostgreSQL is in use by another program: choose another`);
    if (attempt === PORT_ATTEMPTS) throw new Error('PostgreSQL found no free port');
  }
}

async function startOn(port: number, options: PostgresOptions): Promise<Postgres | 'port taken'> {
  const binaries = postgresBinaries();
  const temporary = options.dataDir === undefined ? await temporaryFolder('postgres', options.below) : undefined;
  try {
    const dataDir = resolve(temporary ?? options.dataDir ?? '');
    const runAs = unprivileged(dataDir, [binaries.postgres, join(dataDir, 'cluster')]);
    const cluster = await openCluster(dataDir, binaries, runAs);
    await clearStaleLock(cluster.folder);
    const tls = options.tls === undefined ? {} : await tlsSettings(options.tls, dataDir, runAs);
    const settings = Object.entries({ ...SETTINGS, ...tls, ...options.settings, port: String(port) });
    const args = ['-D', cluster.folder, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    const server = spawnGuarded(binaries.postgres, args, {
      signal: 'INT', // "fast shutdown": does not wait for clients to leave
      prefix: runAs.prefix,
      env: { ...process.env, LC_ALL: 'C' },
      ...runAs.spawn,
      ...(temporary === undefined ? {} : { remove: temporary }),
    });
    const start = await whenReady(server, options.log);
    if (start.ready) return await usable(server, cluster, port);
    if (start.log.includes(PORT_IN_USE)) return 'port taken';
    throw new Error(`PostgreSQL did not start:\n${start.log}`);
  } catch (error) {
    if (temporary !== undefined) await removeTemporary(temporary);
    throw error;
  }
}

/** PostgreSQL requires that only its user can read the key. */
async function tlsSettings({ certificate, privateKey }: Certificate, dataDir: string, { owner }: RunAs) {
  const files = { ssl_cert_file: join(dataDir, 'server.crt'), ssl_key_file: join(dataDir, 'server.key') };
  for (const [path, text] of [
    [files.ssl_cert_file, certificate],
    [files.ssl_key_file, privateKey],
  ] as const) {
    await writeFile(path, text, { mode: 0o600 });
    if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  }
  return { ssl: 'on', ...files };
}

type Start = { readonly ready: true } | { readonly ready: false; readonly log: string };

function whenReady(server: Guarded, log: ((line: string) => void) | undefined): Promise<Start> {
  const tail: string[] = [];
  const lines = createInterface({ input: server.stderr });
  return new Promise((settle, reject) => {
    lines.on('line', (line) => {
      log?.(line);
      tail.push(line);
      if (tail.length > LOG_TAIL_LINES) tail.shift();
      if (line.includes(READY)) settle({ ready: true });
    });
    server.once('error', reject);
    server.once('close', () => settle({ ready: false, log: tail.join('\n') }));
  });
}

async function usable(server: Guarded, cluster: Cluster, port: number): Promise<Postgres> {
  // Each process of the server holds its stderr: closed means that the last one is gone, also after `kill`.
  const exited = once(server, 'close').then(() => undefined);
  const stop = async () => {
    server.stdin.end();
    await exited;
  };
  const kill = async () => {
    process.kill(await postmasterPid(cluster.folder), 'SIGKILL');
    await exited;
  };
  const url = (user: string, database: string) =>
    `postgres://${user}:${cluster.password}@127.0.0.1:${port}/${database}`;
  try {
    await createGatewayDatabase(url('postgres', 'postgres'), cluster.password);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: url('gateway', 'gateway'), port, stop, kill, exited };
}

/** The owner of the gateway's database is not a superuser, as with Neon, so that a need for one fails here too. */
async function createGatewayDatabase(superuserUrl: string, password: string): Promise<void> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ role: boolean; database: boolean }>(
      `select exists (select from pg_roles where rolname = 'gateway') as role,
              exists (select from pg_database where datname = 'gateway') as database`,
    );
    if (rows[0]?.role !== true) {
      await client.query(`create role gateway login createdb password ${client.escapeLiteral(password)}`);
    }
    // As Neon's owner: it makes the application's login, and sees and ends what that does.
    await client.query('alter role gateway createrole');
    await client.query('grant pg_monitor, pg_signal_backend to gateway');
    if (rows[0]?.database !== true) await client.query('create database gateway owner gateway');
  } finally {
    await client.end();
  }
}
