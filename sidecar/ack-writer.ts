/** Writes acknowledgements to one sender and counts them by MSA-1. */
import type { Socket } from 'node:net';

import { encodeMllpFrame } from '../shared/hl7/mllp.ts';
import type { Metrics } from './metrics.ts';

/** For a sender that does not read its ACK. */
const ACK_TIMEOUT_MS = 60_000;

const CODES: ReadonlySet<string> = new Set(['AA', 'AE', 'AR', 'CA', 'CE', 'CR']);

/** MSA-1, only for counting; `other` if it does not parse as one byte per character (UTF-16). */
export function acknowledgmentCodeOf(ack: Uint8Array): string {
  const start = Buffer.from(ack.buffer, ack.byteOffset, Math.min(ack.byteLength, 2048)).toString('latin1');
  const code = /\rMSA.(..)/.exec(start)?.[1] ?? '';
  return CODES.has(code) ? code : 'other';
}

/**
 * @param ack undefined if the sender requested none, which is counted too
 * @returns MSA-1, `other`, or `none`
 */
export type WriteAck = (ack: Uint8Array | undefined) => Promise<string>;

/** @param onTimeout called if the sender does not read an ACK in time; it must end the connection */
export function createAckWriter(socket: Socket, metrics: Metrics, onTimeout: () => void): WriteAck {
  const write = (frame: Uint8Array): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(onTimeout, ACK_TIMEOUT_MS);
      metrics.bytes.inc({ direction: 'out' }, frame.byteLength);
      // A socket error ends the connection by its own event; this wait must only settle.
      socket.write(frame, () => {
        clearTimeout(timer);
        resolve();
      });
    });

  return async (ack) => {
    const code = ack === undefined ? 'none' : acknowledgmentCodeOf(ack);
    if (ack !== undefined) await write(encodeMllpFrame(ack));
    metrics.acks.inc({ code });
    return code;
  };
}
