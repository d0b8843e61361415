/** The rule of Allowed IPs: single addresses, CIDR ranges or `*` (edge/docs/behaviour.md, Administration). */
import { parseAddress, parseRange } from '../../shared/ip.ts';

/** Checks a text. @returns the error, or undefined */
export function checkIpRange(text: string): string | undefined {
  if (parseRange(text) !== undefined) return undefined;
  const [address = '', , ...rest] = text.split('/');
  if (parseAddress(address) === undefined || rest.length > 0) {
    return `${JSON.stringify(text)} is neither an IP address, a CIDR range nor *`;
  }
  return `${JSON.stringify(text)}: the prefix must be a number from 0 to ${address.includes(':') ? 128 : 32}`;
}
