/**
 * A PostgreSQL data folder on disk: made by initdb once, found again later, freed from the lock of a server that died.
 * Nothing here runs a server.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Binaries, RunAs } from './postgres-binaries.ts';

const execute = promisify(execFile);

/** How long a server on the same folder may take to end: that of a stack that was just interrupted is on its way out. */
const PREVIOUS_SERVER_MS = 10_000;

export interface Cluster {
  /** PGDATA. */
  readonly folder: string;
  /** The password of both roles, `postgres` and `gateway`; random, so that other users of the machine have no access. */
  readonly password: string;
}

/** Finds the cluster in `dataDir` or makes one: UTF-8, the builtin provider's C.UTF-8, the same on every machine. */
export async function openCluster(dataDir: string, binaries: Binaries, runAs: RunAs): Promise<Cluster> {
  const folder = join(dataDir, 'cluster');
  const passwordFile = join(dataDir, 'password');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const existing = await readIfThere(join(folder, 'PG_VERSION'));
  if (existing !== undefined) return { folder, password: await readFile(passwordFile, 'utf8') };

  const password = randomBytes(18).toString('base64url');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (runAs.owner !== undefined) {
    await chown(dataDir, runAs.owner.uid, runAs.owner.gid);
    await chown(passwordFile, runAs.owner.uid, runAs.owner.gid);
  }
  // Under another name until it is whole: an initdb that was interrupted leaves nothing that looks like a cluster.
  const unfinished = join(dataDir, 'cluster.new');
  await rm(unfinished, { recursive: true, force: true });
  await initdb(binaries, runAs, unfinished, passwordFile);
  await rename(unfinished, folder);
  return { folder, password };
}

async function initdb(binaries: Binaries, runAs: RunAs, folder: string, passwordFile: string): Promise<void> {
  const command = [
    ...runAs.prefix,
    binaries.initdb,
    `--pgdata=${folder}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
    // pg_trgm asks the C library, not the provider, what a letter is: with C it would drop every umlaut.
    `--lc-ctype=${process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`,
    // Before version 17 this provider does not exist; the C library's C.UTF-8 replaces it.
    ...(binaries.major < 17 ? [] : ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']),
    '--no-sync',
    '--no-instructions',
    // The password is random and long; slow hashing would only make every connection slow.
    '--set=scram_iterations=1',
    '--set=timezone=UTC',
    '--set=log_timezone=UTC',
  ];
  const [program = '', ...args] = command;
  await execute(program, args, { cwd: '/', env: { ...process.env, LC_ALL: 'C' }, ...runAs.spawn });
}

/**
 * Frees the folder from a postmaster.pid that a killed server left. PostgreSQL does that itself unless its old number
 * belongs to another program now, which is the rule after a container restarts.
 *
 * @throws when a server still runs on the folder and does not end soon
 */
export async function clearStaleLock(folder: string): Promise<void> {
  const lock = join(folder, 'postmaster.pid');
  const deadline = Date.now() + PREVIOUS_SERVER_MS;
  for (;;) {
    const pid = Number((await readIfThere(lock))?.split('\n')[0] ?? '');
    if (!Number.isInteger(pid) || pid <= 0) return;
    if (!(await isServerOn(folder, pid))) return rm(lock, { force: true });
    if (Date.now() > deadline) throw new Error(`PostgreSQL (process ${pid}) already runs on ${folder}: stop it first`);
    await delay(50);
  }
}

/** The postmaster's process number, while one runs. */
export async function postmasterPid(folder: string): Promise<number> {
  return Number((await readFile(join(folder, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

async function isServerOn(folder: string, pid: number): Promise<boolean> {
  const command = process.platform === 'linux' ? await readIfThere(`/proc/${pid}/cmdline`) : await commandByPs(pid);
  return command !== undefined && command.includes('postgres') && command.includes(folder);
}

async function commandByPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await execute('ps', ['-ww', '-o', 'args=', '-p', String(pid)]);
    return stdout;
  } catch {
    return undefined;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined;
    throw error;
  }
}
