/** Recognises other protocols by their first bytes, so that the connection is rejected immediately with the right reason. */
import type { RefusalReason } from './metrics.ts';

/** Enough bytes to decide every row of the table. */
const DECISIVE_BYTES = 16;
const VT = '\u000b';

const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT', 'PRI'];

/** Beginnings, one character per byte. Other protocols are rejected by their number of junk bytes. */
const OTHERS: readonly { readonly begins: readonly string[]; readonly reason: RefusalReason }[] = [
  // Without this row, any peer could choose its source address.
  { begins: ['PROXY ', '\r\n\r\n\0\r\nQUIT\n'], reason: 'proxy-header-unexpected' },
  // A TLS handshake record of any version (RFC 8446 §5.1).
  { begins: ['\u0016\u0003'], reason: 'tls-on-plain-port' },
  { begins: HTTP_METHODS.map((method) => `${method} `), reason: 'http' },
];

/** @param start the first bytes of a connection, 16 or fewer */
export function otherProtocolOf(start: string): RefusalReason | undefined {
  return OTHERS.find(({ begins }) => begins.some((beginning) => start.startsWith(beginning)))?.reason;
}

/** Checks the chunks of a connection until its protocol is known. @returns the reason to reject it, or undefined */
export function createProtocolCheck(): (chunk: Buffer) => RefusalReason | undefined {
  let start: string | undefined = '';
  return (chunk) => {
    if (start === undefined) return undefined;
    start += chunk.toString('latin1', 0, DECISIVE_BYTES - start.length);
    const reason = otherProtocolOf(start);
    if (start.startsWith(VT) || start.length >= DECISIVE_BYTES) start = undefined;
    return reason;
  };
}
