/** MSA-1 of an ACK, for counting. Nothing is decided by it. */

const CODES: ReadonlySet<string> = new Set(['AA', 'AE', 'AR', 'CA', 'CE', 'CR']);

/** `other` when it cannot be read as one byte a character (UTF-16). */
export function acknowledgmentCodeOf(ack: Uint8Array): string {
  const start = Buffer.from(ack.buffer, ack.byteOffset, Math.min(ack.byteLength, 2048)).toString('latin1');
  const code = /\rMSA.(..)/.exec(start)?.[1] ?? '';
  return CODES.has(code) ? code : 'other';
}
