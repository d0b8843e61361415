/** Recognises by its first bytes what is no MLLP at all, so that it is refused at once and by its true name. */
import type { RefusalReason } from './metrics.ts';

/** So many bytes settle every row of the table. */
export const TELLING_BYTES = 16;

const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT', 'PRI'];

/** Beginnings, one character a byte. What is not here is found by count (too many bytes that are no frame). */
const STRANGERS: readonly { readonly begins: readonly string[]; readonly reason: RefusalReason }[] = [
  // A header that anybody may send would let anybody choose a source address.
  { begins: ['PROXY ', '\r\n\r\n\0\r\nQUIT\n'], reason: 'proxy-header-unexpected' },
  // A TLS handshake record of any version (RFC 8446 §5.1).
  { begins: ['\u0016\u0003'], reason: 'tls-on-plain-port' },
  { begins: HTTP_METHODS.map((method) => `${method} `), reason: 'http' },
];

/** @param start the first bytes of a connection, `TELLING_BYTES` or fewer */
export function strangerOf(start: string): RefusalReason | undefined {
  return STRANGERS.find(({ begins }) => begins.some((beginning) => start.startsWith(beginning)))?.reason;
}
