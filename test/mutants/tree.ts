/** A copy of the working tree in which defects are seeded; the working tree itself is never changed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ROOT } from '../stack/services/build.ts';

export interface Run {
  /** Its tests' exit code; null where the time was over. */
  readonly code: number | null;
  readonly output: string;
}

export interface Tree {
  read(file: string): Promise<string>;
  write(file: string, text: string): Promise<void>;
  /** Runs test files to the first failure. */
  test(files: readonly string[]): Promise<Run>;
  /** Runs the unit and database tests that import a source file, directly or not, to the first failure. */
  testImporting(file: string): Promise<Run>;
  /** Ends what runs in it, in the middle if need be, and removes it. */
  remove(): Promise<void>;
}

/** Longer than any test's own time-out: what is still running then hangs. */
const RUN_TIMEOUT_MS = 300_000;

export async function copyTree(): Promise<Tree> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-mutants-'));
  const listed = await promisify(execFile)('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of listed.stdout.split('\0').filter(Boolean))
    await cp(join(ROOT, file), join(folder, file), { errorOnExist: false }).catch((error: NodeJS.ErrnoException) => {
      // Deleted in the working tree and not yet in the index.
      if (error.code !== 'ENOENT') throw error;
    });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  let running: ChildProcess | undefined;
  // The complete group: this also ends what a test has started.
  const end = (): void => {
    if (running?.pid !== undefined && running.exitCode === null) process.kill(-running.pid, 'SIGKILL');
  };

  async function vitest(args: readonly string[]): Promise<Run> {
    const child = spawn(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', ...args, '--root', '.', '--bail', '1', '--maxWorkers', '1'],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: { ...process.env, NO_COLOR: '1' } },
    );
    running = child;
    let output = '';
    child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
    const timer = setTimeout(end, RUN_TIMEOUT_MS);
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    clearTimeout(timer);
    return { code, output };
  }

  return {
    read: (file) => readFile(join(folder, file), 'utf8'),
    write: (file, text) => writeFile(join(folder, file), text),
    test: (files) => vitest(['run', ...files]),
    testImporting: (file) =>
      vitest(['related', file, '--run', '--passWithNoTests', '--project', 'unit', '--project', 'database']),
    async remove() {
      end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
