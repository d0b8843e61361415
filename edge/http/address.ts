/**
 * Reads parts of a request's URL without a URL object, which costs more. The runtimes print the URL with scheme and host,
 * and clients never send a fragment (RFC 9112 §3.2).
 */

/** The path as sent. */
export const pathOf = (url: string): string => /^[^:]+:\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] ?? '';

/** The query as sent, without `?`. */
export const queryOf = (url: string): string => /\?([^#]*)/.exec(url)?.[1] ?? '';

/** The parameters of the query, in order. */
export function queryPairsOf(url: string): [name: string, value: string][] {
  const query = queryOf(url);
  return query === '' ? [] : [...new URLSearchParams(query)];
}
