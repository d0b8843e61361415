/** Creates folders for a run and removes them. A folder that was not created here is never removed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made = new Set<string>();

/**
 * Creates an empty folder.
 *
 * @param name is part of the path
 * @param below default: the system's folder for temporary files
 */
export async function temporaryFolder(name: string, below = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(below, `gateway-${name}-`));
  made.add(folder);
  return folder;
}

/** @throws an Error for a folder that `temporaryFolder` did not make in this process */
export function requireTemporary(folder: string): void {
  if (!made.has(folder)) throw new Error(`${folder} is not a temporary folder of this process: it is not removed`);
}

/** @throws an Error for a folder that `temporaryFolder` did not make in this process */
export async function removeTemporary(folder: string): Promise<void> {
  requireTemporary(folder);
  await rm(folder, { recursive: true, force: true });
}
