/** Changes the headers of a finished answer. */
import type { Context } from 'hono';

/**
 * Changes the answer in place. `c.header` would copy the answer and turn its text into a stream each time. Only an answer
 * with immutable headers (Fetch, 5.1: a fetched response or a redirect) is copied.
 *
 * @param change called again on the copy if the headers are immutable
 */
export function changeHeaders(c: Context, change: (headers: Headers) => void): void {
  try {
    change(c.res.headers);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    c.res = new Response(c.res.body, c.res);
    change(c.res.headers);
  }
}
