/** Recognises by its first bytes what is no MLLP at all, so that it is refused at once and by its true name. */
import type { RefusalReason } from './metrics.ts';

/** So many bytes settle every row of the table. */
const TELLING_BYTES = 16;
const VT = '\u000b';

const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT', 'PRI'];

/** Beginnings, one character a byte. What is not here is found by count (too many bytes that are no frame). */
const OTHERS: readonly { readonly begins: readonly string[]; readonly reason: RefusalReason }[] = [
  // A header that anybody may send would let anybody choose a source address.
  { begins: ['PROXY ', '\r\n\r\n\0\r\nQUIT\n'], reason: 'proxy-header-unexpected' },
  // A TLS handshake record of any version (RFC 8446 §5.1).
  { begins: ['\u0016\u0003'], reason: 'tls-on-plain-port' },
  { begins: HTTP_METHODS.map((method) => `${method} `), reason: 'http' },
];

/** @param start the first bytes of a connection, 16 or fewer */
export function otherProtocolOf(start: string): RefusalReason | undefined {
  return OTHERS.find(({ begins }) => begins.some((beginning) => start.startsWith(beginning)))?.reason;
}

/** @returns looks at each chunk of a connection until its beginning is settled: why to refuse it, or undefined */
export function createProtocolCheck(): (chunk: Buffer) => RefusalReason | undefined {
  let start: string | undefined = '';
  return (chunk) => {
    if (start === undefined) return undefined;
    start += chunk.toString('latin1', 0, TELLING_BYTES - start.length);
    const reason = otherProtocolOf(start);
    if (start.startsWith(VT) || start.length >= TELLING_BYTES) start = undefined;
    return reason;
  };
}
