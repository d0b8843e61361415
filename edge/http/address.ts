/**
 * Parts of a request's URL without a URL object, which costs more than to find them: the runtimes print the URL with its
 * scheme and host, and what is behind `#` is never sent (RFC 9112 §3.2).
 */

/** The path, as it was sent. */
export const pathOf = (url: string): string => /^[^:]+:\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] ?? '';

/** The parameters of the query, in their order. */
export function queryPairsOf(url: string): [name: string, value: string][] {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? '';
  return query === '' ? [] : [...new URLSearchParams(query)];
}
