/** Allowed IPs (edge/docs/behaviour.md, Administration): single addresses, CIDR ranges or `*`. Only what is wrong with a text. */
import { parseAddress, parseRange } from '../../../shared/ip.ts';

/** @returns why the text is none, or undefined */
export function checkIpRange(text: string): string | undefined {
  if (parseRange(text) !== undefined) return undefined;
  const [address = '', , ...rest] = text.split('/');
  if (parseAddress(address) === undefined || rest.length > 0) {
    return `${JSON.stringify(text)} is neither an IP address, a CIDR range nor *`;
  }
  return `${JSON.stringify(text)}: the prefix must be a number from 0 to ${address.includes(':') ? 128 : 32}`;
}
