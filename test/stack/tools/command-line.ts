/** The command-line programs of the gateway, with only the environment that a test gives. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { runAdmin } from '../../../edge/platform/node/admin-program.ts';
import { ROOT } from '../services/build.ts';
import { giveInput } from './standard-input.ts';

/** The variables that every program needs: PATH, and the compile cache of Node (global-setup.ts). */
export const BARE_ENV: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts a separate process.
 *
 * @param program `admin` for edge/platform/node/admin-cli.ts
 */
export function startProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [`edge/platform/node/${program}-cli.ts`, ...args], {
    cwd: ROOT,
    env: { ...BARE_ENV, ...env },
  });
  giveInput(child.stdin, input);
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const ended = Promise.all([exit, text(child.stdout), text(child.stderr)]);
  return { child, ended: ended.then(([code, stdout, stderr]) => ({ code, stdout, stderr })) };
}

/** Runs a program to its end. */
export const runProgram = (...args: Parameters<typeof startProgram>): Promise<Ended> => startProgram(...args).ended;

/** Runs `npm run admin` in this process: the same program without half a second of work to load it. */
export async function runAdminHere(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<Ended> {
  const written = { output: '', errors: '' };
  const code = await runAdmin({
    args,
    env,
    input: Readable.from([input]),
    output: { write: (part) => (written.output += part) },
    errors: { write: (part) => (written.errors += part) },
  });
  return { code, stdout: written.output, stderr: written.errors };
}
