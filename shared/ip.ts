/**
 * IP addresses and ranges as 16 bytes. An IPv4 address is stored as its IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), so
 * that `192.0.2.1` equals `::ffff:192.0.2.1`. The parser rejects octal numbers and zones.
 */

const ADDRESS_BYTES = 16;
const ADDRESS_BITS = 128;
/** The first 96 bits of an IPv4-mapped address. */
const MAPPED_PREFIX_BITS = 96;
/** Six groups of four digits and dotted decimal: `ffff:…:ffff:255.255.255.255`. */
const MAX_ADDRESS_CHARACTERS = 45;

export interface IpRange {
  /** The 16 bytes of the address; bits beyond the prefix are ignored. */
  readonly bytes: Uint8Array;
  /** 0 to 128, counted in the 16 bytes: an IPv4 `/24` is 120. */
  readonly prefix: number;
}

/** Dotted decimal. Leading zeros are rejected, because some programs read them as octal. */
function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const octets = parts.map(Number);
  return octets.every((octet) => octet <= 255) ? octets : undefined;
}

/** Groups of four hexadecimal digits; the last 32 bits of an address may be dotted decimal (RFC 4291 §2.2). */
function parseGroups(text: string, isLast: boolean): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (group.includes('.')) {
      const octets = isLast && index === groups.length - 1 ? parseIpv4(group) : undefined;
      if (octets === undefined) return undefined;
      bytes.push(...octets);
      continue;
    }
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(value >> 8, value & 0xff);
  }
  return bytes;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const [before = '', after, ...rest] = text.split('::');
  if (rest.length > 0) return undefined;
  const head = parseGroups(before, after === undefined);
  const tail = after === undefined ? [] : parseGroups(after, true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = ADDRESS_BYTES - head.length - tail.length;
  // `::` replaces at least one group; without it no group may be missing.
  if (after === undefined ? missing !== 0 : missing < 2) return undefined;
  return Uint8Array.from([...head, ...Array<number>(missing).fill(0), ...tail]);
}

/** @returns the 16 bytes of an address, or undefined if the text is not an address */
export function parseAddress(text: string): Uint8Array | undefined {
  if (text.length > MAX_ADDRESS_CHARACTERS) return undefined;
  if (text.includes(':')) return parseIpv6(text);
  const octets = parseIpv4(text);
  return octets && Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...octets]);
}

/**
 * A single address, a CIDR range (RFC 4632 §3.1) or `*` for any.
 *
 * @returns undefined if the text is something else
 */
export function parseRange(text: string): IpRange | undefined {
  if (text === '*') return { bytes: new Uint8Array(ADDRESS_BYTES), prefix: 0 };
  const [address = '', length, ...rest] = text.split('/');
  const bytes = parseAddress(address);
  if (bytes === undefined || rest.length > 0) return undefined;
  if (length === undefined) return { bytes, prefix: ADDRESS_BITS };
  const isIpv4 = !address.includes(':');
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length) || Number(length) > (isIpv4 ? 32 : ADDRESS_BITS)) return undefined;
  return { bytes, prefix: Number(length) + (isIpv4 ? MAPPED_PREFIX_BITS : 0) };
}

/** True if the address begins with the first `prefix` bits of the range. */
export function rangeContains(range: IpRange, address: Uint8Array): boolean {
  const fullBytes = range.prefix >> 3;
  for (let i = 0; i < fullBytes; i += 1) if (range.bytes[i] !== address[i]) return false;
  const rest = range.prefix & 7;
  if (rest === 0) return true;
  const mask = 0xff & (0xff << (8 - rest));
  return ((range.bytes[fullBytes] ?? 0) & mask) === ((address[fullBytes] ?? 0) & mask);
}

const isMapped = (bytes: Uint8Array): boolean =>
  bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((byte) => byte === 0);

/** RFC 5952 §4: lower case, no leading zeros, `::` for the first of the longest runs of two or more zero groups. */
function printIpv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  const text = groups.map((group) => group.toString(16)).join(':');
  const runs = [...text.matchAll(/\b0(?::0)+\b/g)].toSorted((a, b) => b[0].length - a[0].length);
  const [longest] = runs;
  if (longest === undefined) return text;
  const before = text.slice(0, longest.index).replace(/:$/, '');
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, '');
  return `${before}::${after}`;
}

/** The canonical spelling of an address; an IPv4-mapped address is printed as IPv4. */
export function printAddress(bytes: Uint8Array): string {
  return isMapped(bytes) ? bytes.subarray(12).join('.') : printIpv6(bytes);
}

/**
 * The canonical spelling of a peer's address as a socket reports it. `::ffff:192.0.2.1` becomes `192.0.2.1` (RFC 4291
 * §2.5.5.2), a zone (`%eth0`, RFC 4007 §11) is removed, and other text is returned unchanged.
 */
export function plainAddress(text: string): string {
  // Dotted decimal has only one spelling.
  if (!/[:%]/.test(text)) return text;
  const [bare = ''] = text.split('%', 1);
  const bytes = parseAddress(bare);
  return bytes === undefined ? bare : printAddress(bytes);
}

/**
 * The canonical spelling of a range, with the ignored bits zero: `10.1.2.3/8` becomes `10.0.0.0/8`, `::/0` becomes `*`.
 *
 * @returns undefined if `parseRange` does
 */
export function canonicalRange(text: string): string | undefined {
  const range = parseRange(text);
  if (range === undefined) return undefined;
  const { prefix } = range;
  if (prefix === 0) return '*';
  const network = range.bytes.map((byte, i) => byte & (0xff00 >> Math.min(Math.max(prefix - 8 * i, 0), 8)));
  const address = printAddress(network);
  if (prefix === ADDRESS_BITS) return address;
  return `${address}/${address.includes(':') ? prefix : prefix - MAPPED_PREFIX_BITS}`;
}

/** The unit of limits by address: an IPv6 host counts as its /64, because it can use a new address for each request. */
export function addressKey(address: string): string {
  const bytes = parseAddress(address);
  const canonical = bytes === undefined ? address : printAddress(bytes);
  return canonical.includes(':') ? (canonicalRange(`${canonical}/64`) ?? canonical) : canonical;
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** True if the host of a URL, as `URL.hostname` spells it, is a usual name of the local machine. */
export const isLoopbackHost = (hostname: string): boolean => LOOPBACK_HOSTS.has(hostname);
