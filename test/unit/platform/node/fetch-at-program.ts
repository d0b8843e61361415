/** fetch-at.test.ts runs it on Node and on Deno: one fetchAt, reported as JSON. Arguments: address, URL. */
import process from 'node:process';

import { fetchAt } from '../../../../edge/platform/node/fetch-at.ts';

const [address = '', url = ''] = process.argv.slice(2);
try {
  const init = { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(10_000) };
  const response = await fetchAt([address], url, init);
  console.log(JSON.stringify({ status: response.status, text: await response.text() }));
} catch (error) {
  console.log(JSON.stringify({ failed: error instanceof Error ? error.message : 'unknown' }));
}
