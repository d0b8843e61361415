/** The machine, the versions and the commit of a run. */
import { execFile } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import process from 'node:process';
import { promisify } from 'node:util';

import type { Client } from 'pg';

import { ROOT } from '../stack/services/build.ts';

const run = promisify(execFile);
const GIGABYTE = 1024 ** 3;

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly kernel: string;
}

export function thisMachine(): Machine {
  const cores = cpus();
  const memoryGb = Math.round(totalmem() / GIGABYTE);
  return { processor: cores[0]?.model ?? '', cores: cores.length, memoryGb, kernel: release() };
}

/** The versions of the measured programs. */
export async function versionsOf(client: Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  const versionOf = async (program: string): Promise<string> => {
    const { stdout } = await run(`${ROOT}node_modules/.bin/${program}`, ['--version']);
    return /\d{4}-\d\d-\d\d|\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? stdout.trim();
  };
  return {
    Node: process.versions.node,
    workerd: await versionOf('workerd'),
    Deno: await versionOf('deno'),
    PostgreSQL: rows[0]?.server_version ?? '',
  };
}

/** The checked-out commit; undefined if files have changed. @param but a file that may have changed */
export async function checkedOut(but: string): Promise<string | undefined> {
  const git = async (...args: readonly string[]): Promise<string> =>
    (await run('git', args, { cwd: ROOT })).stdout.trim();
  const changed = await git('status', '--porcelain', '--', '.', `:(exclude)${but}`);
  return changed === '' ? git('rev-parse', '--short=12', 'HEAD') : undefined;
}
