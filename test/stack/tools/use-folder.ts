/** Empty folders for tests, removed after them. */
import { afterAll } from 'vitest';

import { removeTemporary, temporaryFolder } from '../services/temporary-folder.ts';

/** @param after registers the removal: after the file or `describe`, or `onTestFinished` after the test */
export async function useFolder(
  name: string,
  after: (remove: () => Promise<void>) => void = afterAll,
): Promise<string> {
  const folder = await temporaryFolder(name);
  after(() => removeTemporary(folder));
  return folder;
}
