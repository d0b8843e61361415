/** A guarded program whose lines, of standard output and standard error, are kept and handed on. */
import { createInterface } from 'node:readline';

import { type Life, lifeOf, spawnGuarded } from './guard.ts';

export interface LoggedOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Gets each line as it is written. */
  readonly log?: ((line: string) => void) | undefined;
}

export interface Logged extends Life {
  /** The last ten thousand lines. */
  readonly logs: readonly string[];
}

/** A local stack may run for weeks. */
const MAX_LINES = 10_000;

/** @param command the program and its arguments */
export function spawnLogged(command: readonly string[], options: LoggedOptions): Logged {
  // The guard hands on standard error only; exec keeps the process the guard watches.
  const toStderr = ['-c', 'exec "$0" "$@" >&2', ...command];
  const child = spawnGuarded('/bin/sh', toStderr, { signal: 'TERM', cwd: options.cwd, env: options.env });
  const logs: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    logs.push(line);
    if (logs.length > MAX_LINES) logs.shift();
    options.log?.(line);
  });
  return { ...lifeOf(child), logs };
}
