/**
 * Every answer that a contract test gets is compared with what the API reference says of that operation: a status or a header
 * that it does not name fails the test that was answered so.
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
