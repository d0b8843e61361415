/** Allowed IPs (spec.md, "API key record"): single addresses, CIDR ranges or `*`. Only whether a text is one of them. */

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);

/** The URL parser knows every spelling of RFC 4291, and takes no zone. */
const isIpv6 = (text: string): boolean =>
  /^[0-9a-fA-F:.]+$/.test(text) && text.includes(':') && URL.canParse(`http://[${text}]/`);

/** @returns why the text is none, or undefined */
export function checkIpRange(text: string): string | undefined {
  if (text === '*') return undefined;
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = IPV4.test(address) ? 32 : isIpv6(address) ? 128 : undefined;
  if (bits === undefined || rest.length > 0)
    return `${JSON.stringify(text)} is neither an IP address, a CIDR range nor *`;
  if (prefix === undefined) return undefined;
  if (!/^(?:0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > bits) {
    return `${JSON.stringify(text)}: the prefix must be a number from 0 to ${bits}`;
  }
  return undefined;
}
