/**
 * Parses the PROXY protocol header, versions 1 and 2 (haproxy.org, "The PROXY protocol", §2.1 and §2.2), in which a balancer
 * names its peer. The caller decides which peers may send one.
 */
import { isIPv4, isIPv6 } from 'node:net';

export type ProxyHeader =
  | { readonly kind: 'incomplete' }
  /** The bytes begin with something else. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' }
  /** `address` is undefined if the balancer has no peer (a health check) or does not know it. */
  | { readonly kind: 'header'; readonly address: string | undefined; readonly length: number };

const V1_START = Buffer.from('PROXY ');
/** §2.1: the longest version 1 header, CRLF included. */
const V1_MAX_BYTES = 107;
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V2_FIXED_BYTES = 16;
/** Addresses have at most 216 bytes; the rest are TLV extensions, which are ignored. */
const V2_MAX_BYTES = 4096;

const INCOMPLETE: ProxyHeader = { kind: 'incomplete' };
const MISSING: ProxyHeader = { kind: 'missing' };
const INVALID: ProxyHeader = { kind: 'invalid' };

/** @param bytes everything received so far */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsLike(bytes, V2_SIGNATURE)) return bytes.length < V2_FIXED_BYTES ? INCOMPLETE : readV2(bytes);
  if (beginsLike(bytes, V1_START)) return readV1(bytes);
  return MISSING;
}

/** True also for a part of the signature. */
function beginsLike(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.length, signature.length);
  return bytes.subarray(0, length).equals(signature.subarray(0, length));
}

const ADDRESS_CHECKS = new Map([
  ['TCP4', isIPv4],
  ['TCP6', isIPv6],
]);

function readV1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, V1_MAX_BYTES).indexOf('\r\n');
  if (end < 0) return bytes.length < V1_MAX_BYTES ? INCOMPLETE : INVALID;
  const length = end + 2;
  const [, protocol, source = '', destination = '', ...ports] = bytes.toString('latin1', 0, end).split(' ');
  if (protocol === 'UNKNOWN') return { kind: 'header', address: undefined, length };
  const isAddress = ADDRESS_CHECKS.get(protocol ?? '');
  if (isAddress === undefined || !isAddress(source) || !isAddress(destination)) return INVALID;
  if (ports.length !== 2 || !ports.every(isPort)) return INVALID;
  return { kind: 'header', address: source, length };
}

const isPort = (text: string): boolean => /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;

const LOCAL = 0x20;
const PROXY = 0x21;
const ADDRESS_FAMILIES: ReadonlyMap<number, { readonly bytes: number; readonly print: (address: Buffer) => string }> =
  new Map([
    [0x1, { bytes: 4, print: (address: Buffer) => address.join('.') }],
    [0x2, { bytes: 16, print: printIPv6 }],
  ]);

function readV2(bytes: Buffer): ProxyHeader {
  const command = bytes.readUInt8(12);
  const family = bytes.readUInt8(13) >> 4;
  const length = V2_FIXED_BYTES + bytes.readUInt16BE(14);
  if ((command !== LOCAL && command !== PROXY) || length > V2_MAX_BYTES) return INVALID;
  if (bytes.length < length) return INCOMPLETE;
  const known = ADDRESS_FAMILIES.get(family);
  // §2.2: for LOCAL, UNSPEC and UNIX the receiver uses the connection's addresses.
  if (command === LOCAL || known === undefined) return { kind: 'header', address: undefined, length };
  if (length < V2_FIXED_BYTES + 2 * known.bytes + 4) return INVALID;
  const address = known.print(bytes.subarray(V2_FIXED_BYTES, V2_FIXED_BYTES + known.bytes));
  return { kind: 'header', address, length };
}

function printIPv6(address: Buffer): string {
  const isMapped = address.readUInt32BE(8) === 0xffff && address.subarray(0, 8).every((byte) => byte === 0);
  if (isMapped) return `::ffff:${address.subarray(12).join('.')}`;
  const groups = Array.from({ length: 8 }, (_, index) => address.readUInt16BE(index * 2).toString(16)).join(':');
  // The URL parser prints the canonical form of RFC 5952.
  return new URL(`http://[${groups}]/`).hostname.slice(1, -1);
}
