/** A real PgBouncer before a PostgreSQL on this machine, in one of its modes; it ends with the process that started it. */
import { execFile } from 'node:child_process';
import { chown, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { freePort } from './free-port.ts';
import { spawnLogged } from './logged.ts';
import { unprivileged } from './postgres-binaries.ts';
import { removeTemporary, temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

export interface PgBouncerOptions {
  /** A client has its connection to the server for a transaction, or for as long as it is connected itself. */
  readonly mode: 'transaction' | 'session';
  /** The server behind it. Only the login with its name and password is accepted. */
  readonly databaseUrl: string;
  /** Connections to the server, at most. */
  readonly connections: number;
  /** Prepared statements per connection to the server; 0: PgBouncer does not support them. */
  readonly preparedStatements?: number;
}

export interface PgBouncer {
  /** `databaseUrl` through it. */
  readonly url: string;
  readonly stop: () => Promise<void>;
  /** Again, at the same port. */
  readonly start: () => Promise<void>;
}

const HOST = '127.0.0.1';

/** Why a test of it cannot run and may say so. */
export const NO_PGBOUNCER = 'no pgbouncer: apt-get install pgbouncer, or set PGBOUNCER to the program';

/** The program: PGBOUNCER, which then has to be there, or where Debian puts it. */
const program = (): string => process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer';

/** @returns such as [1, 18]; undefined if it is missing and not required */
export async function pgBouncerVersion(): Promise<readonly [number, number] | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program(), ['--version']);
    const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/m.exec(stdout) ?? [];
    return [Number(major), Number(minor)];
  } catch (error) {
    if (process.env['PGBOUNCER'] !== undefined) throw error;
    return undefined;
  }
}

export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const { mode, databaseUrl, connections, preparedStatements = 0 } = options;
  const server = new URL(databaseUrl);
  const port = await freePort();
  const folder = await temporaryFolder('pgbouncer');
  const runAs = unprivileged(folder, [program(), folder]);
  const settings = {
    listen_addr: HOST,
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users'),
    pool_mode: mode,
    default_pool_size: String(connections),
    max_client_conn: '1000',
    // The server is asked again soon after it was away.
    server_login_retry: '0.1',
    ...(preparedStatements === 0 ? {} : { max_prepared_statements: String(preparedStatements) }),
  };
  const files = {
    'pgbouncer.ini': [
      '[databases]',
      `* = host=${HOST} port=${server.port}`,
      '[pgbouncer]',
      ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
      '',
    ].join('\n'),
    users: `"${server.username}" "${server.password}"\n`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  // As root it refuses to run.
  const { owner } = runAs;
  for (const path of owner === undefined ? [] : [folder, ...Object.keys(files).map((name) => join(folder, name))]) {
    await chown(path, owner?.uid ?? 0, owner?.gid ?? 0);
  }
  const asOwner =
    owner === undefined ? [] : ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];

  let ended: () => Promise<void> = async () => undefined;
  const start = async (): Promise<void> => {
    const { stop, hasEnded, logs } = spawnLogged([...asOwner, program(), join(folder, 'pgbouncer.ini')], {
      cwd: '/',
      env: process.env,
    });
    ended = stop;
    await until('PgBouncer listens', async () => {
      if (hasEnded()) throw new Error(`PgBouncer ended:\n${logs.join('\n')}`);
      return new Promise<boolean>((resolve) => {
        const socket = connect(port, HOST, () => resolve(true)).once('error', () => resolve(false));
        socket.once('connect', () => socket.destroy());
      });
    });
  };
  await start();
  const through = new URL(databaseUrl);
  through.port = String(port);
  return {
    url: through.href,
    start,
    stop: async () => {
      await ended();
      await removeTemporary(folder);
    },
  };
}
