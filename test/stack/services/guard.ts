/**
 * Starts a program that cannot outlive this process. A small shell between the two reads a pipe that this process holds open.
 * When the pipe closes, by request, by a kill or by a crash, the shell ends the program. It needs no polling and no exit
 * hook, which SIGKILL would skip, but a POSIX shell (Linux, macOS).
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Writable } from 'node:stream';

import { requireTemporary } from './temporary-folder.ts';

/**
 * $1 is the signal that ends the program, $2 a folder to remove afterwards or '', the rest the command. `read` is the
 * shell's own, so the watcher is one process and can be killed by its number.
 */
const GUARD_SCRIPT = `
signal=$1 remove=$2; shift 2
exec 3<&0
"$@" </dev/null 3<&- & program=$!
( read -r _ <&3; kill -s "$signal" "$program" ) >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait "$program"; status=$?
kill -s KILL "$watcher" 2>/dev/null
if [ -n "$remove" ]; then rm -rf -- "$remove"; fi
exit $status
`;

export interface GuardOptions {
  /** The signal that ends the program in good order, without the SIG. */
  readonly signal: 'INT' | 'TERM' | 'QUIT';
  /** A folder of `temporaryFolder` that is removed when the program has ended, also when we crashed. */
  readonly remove?: string;
  /** A command put before the guard, such as `setpriv …`. */
  readonly prefix?: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** An open file for the program's standard output; default: nowhere. */
  readonly stdout?: number;
}

/** The guard's process: its stderr is the program's, closing its stdin ends the program, its exit is the program's. */
export type Guarded = ChildProcessByStdio<Writable, null, Readable>;

/**
 * Runs `command` until it ends, `stdin` of the result closes, or this process is gone. Terminal signals do not reach it
 * (own session), so Ctrl-C stops the parts of a stack in the order the stack chooses.
 *
 * @throws an Error where `remove` is not a folder of `temporaryFolder`
 */
export function spawnGuarded(command: string, args: readonly string[], options: GuardOptions): Guarded {
  if (options.remove !== undefined) requireTemporary(options.remove);
  const shell = ['/bin/sh', '-c', GUARD_SCRIPT, 'guard', options.signal, options.remove ?? '', command, ...args];
  const [program = '/bin/sh', ...rest] = [...(options.prefix ?? []), ...shell];
  // stdin and stderr are pipes, standard output never is: the type says so, the overloads of spawn cannot.
  const child = spawn(program, rest, {
    stdio: ['pipe', options.stdout ?? 'ignore', 'pipe'],
    detached: true,
    cwd: options.cwd ?? '/',
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
    ...(options.env === undefined ? {} : { env: options.env }),
  }) as unknown as Guarded;
  // The program may end first; a broken pipe is then not an error.
  child.stdin.on('error', () => undefined);
  return child;
}

/** The life of a guarded program. */
export interface Life {
  /** Settles when the program has ended and its last line is read, with its exit code (null: a signal). */
  readonly exited: Promise<number | null>;
  readonly hasEnded: () => boolean;
  /** In good order. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, at once, to the guard's group: the shell, its watcher and the program. */
  readonly kill: () => Promise<void>;
}

export function lifeOf(child: Guarded): Life {
  let ended = false;
  // Node may report `exit` before it has read all that the program wrote.
  const exited = once(child, 'close').then(([code]) => {
    ended = true;
    return typeof code === 'number' ? code : null;
  });
  return {
    exited,
    hasEnded: () => ended,
    async stop() {
      child.stdin.end();
      await exited;
    },
    async kill() {
      if (!ended && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
  };
}
