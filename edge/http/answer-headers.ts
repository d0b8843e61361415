/** Headers that are added to an answer behind its handler. */
import type { Context } from 'hono';

/**
 * On the answer as it is: `c.header` would make a new one for each, whose body is a stream of the text before. Only what came
 * by a fetch, or is a redirect made as such, cannot be changed (Fetch, 5.1: its headers are immutable) and is copied.
 *
 * @param change done twice where the first time cannot be
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
