/**
 * Compares every answer to a contract test with the API reference. A status or a header that the reference does not list for
 * the operation fails the test.
 */
import { expect } from 'vitest';

import { undescribed, unwatchedFetch } from './undescribed.ts';

const watchedFetch: typeof fetch = async (input, init) => {
  const response = await unwatchedFetch(input, init);
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  const url = input instanceof Request ? input.url : String(input);
  const problem = await undescribed(method.toUpperCase(), url, response);
  if (problem !== undefined) throw new Error(problem);
  return response;
};

// Once for each file, and several files share a process.
const isContract = expect.getState().testPath?.includes('/test/contract/') === true;
globalThis.fetch = isContract ? watchedFetch : unwatchedFetch;
