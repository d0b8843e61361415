/**
 * IP addresses and ranges as 16 bytes, whatever their spelling: an IPv4 address is its IPv4-mapped IPv6 address (RFC
 * 4291 §2.5.5.2), so that `192.0.2.1` and `::ffff:192.0.2.1` are the same. Strict about text: no octal, no zone.
 */

const ADDRESS_BYTES = 16;
const ADDRESS_BITS = 128;
/** The first 96 bits of an IPv4-mapped address. */
const MAPPED_PREFIX_BITS = 96;
/** Six groups of four digits and dotted decimal: `ffff:…:ffff:255.255.255.255`. */
const MAX_ADDRESS_CHARACTERS = 45;

export interface IpRange {
  /** The address, 16 bytes; bits beyond the prefix do not count. */
  readonly bytes: Uint8Array;
  /** 0 to 128, of the 16 bytes: an IPv4 `/24` is 120. */
  readonly prefix: number;
}

/** Dotted decimal, each octet 0 to 255 without leading zeros, which some programs read as octal. */
function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const octets = parts.map(Number);
  return octets.every((octet) => octet <= 255) ? octets : undefined;
}

/** Groups of four hexadecimal digits; an address's last 32 bits may be dotted decimal (RFC 4291 §2.2). */
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
  // `::` stands for at least one group; without it nothing may be missing.
  if (after === undefined ? missing !== 0 : missing < 2) return undefined;
  return Uint8Array.from([...head, ...Array<number>(missing).fill(0), ...tail]);
}

/** @returns the 16 bytes of an address, or undefined when the text is none */
export function parseAddress(text: string): Uint8Array | undefined {
  if (text.length > MAX_ADDRESS_CHARACTERS) return undefined;
  if (text.includes(':')) return parseIpv6(text);
  const octets = parseIpv4(text);
  return octets && Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...octets]);
}

/**
 * A single address, a CIDR range (RFC 4632 §3.1) or `*` for any.
 *
 * @returns undefined when the text is none of them
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

/** True when the first `prefix` bits are the same. */
export function rangeContains(range: IpRange, address: Uint8Array): boolean {
  const whole = range.prefix >> 3;
  for (let i = 0; i < whole; i += 1) if (range.bytes[i] !== address[i]) return false;
  const rest = range.prefix & 7;
  if (rest === 0) return true;
  const mask = 0xff & (0xff << (8 - rest));
  return ((range.bytes[whole] ?? 0) & mask) === ((address[whole] ?? 0) & mask);
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

/** The one spelling of an address; an IPv4-mapped one is its IPv4 address. */
export function printAddress(bytes: Uint8Array): string {
  return isMapped(bytes) ? bytes.subarray(12).join('.') : printIpv6(bytes);
}

/**
 * The one spelling of a peer's address as a socket gives it: `::ffff:192.0.2.1` is `192.0.2.1` (RFC 4291 §2.5.5.2), and
 * a zone (`%eth0`, RFC 4007 §11) is left out. What is no address stays as it is.
 */
export function plainAddress(text: string): string {
  // Dotted decimal has one spelling only.
  if (!/[:%]/.test(text)) return text;
  const [bare = ''] = text.split('%', 1);
  const bytes = parseAddress(bare);
  return bytes === undefined ? bare : printAddress(bytes);
}

/**
 * The one spelling of a range, without the bits that do not count: `10.1.2.3/8` is `10.0.0.0/8`, `::/0` is `*`.
 *
 * @returns undefined when `parseRange` does
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

/** What counts as one address: an IPv6 host has a /64 to itself, from which it may take a new address each time. */
export function addressKey(address: string): string {
  const bytes = parseAddress(address);
  const canonical = bytes === undefined ? address : printAddress(bytes);
  return canonical.includes(':') ? (canonicalRange(`${canonical}/64`) ?? canonical) : canonical;
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Whether the host of a URL, as `URL.hostname` spells it, is this machine by one of its usual names. */
export const isLoopbackHost = (hostname: string): boolean => LOOPBACK_HOSTS.has(hostname);
