/** Acknowledgements to one sender: framed, written, and counted by MSA-1 once they left. */
import type { Socket } from 'node:net';

import { encodeMllpFrame } from '../shared/hl7/mllp.ts';
import type { Metrics } from './metrics.ts';

/** A sender that does not read its ACK. */
const ACK_TIMEOUT_MS = 60_000;

const CODES: ReadonlySet<string> = new Set(['AA', 'AE', 'AR', 'CA', 'CE', 'CR']);

/** MSA-1, for counting; nothing is decided by it. `other` when it cannot be read as one byte a character (UTF-16). */
export function acknowledgmentCodeOf(ack: Uint8Array): string {
  const start = Buffer.from(ack.buffer, ack.byteOffset, Math.min(ack.byteLength, 2048)).toString('latin1');
  const code = /\rMSA.(..)/.exec(start)?.[1] ?? '';
  return CODES.has(code) ? code : 'other';
}

/**
 * @param ack undefined where the sender wants none, which is counted as well
 * @returns MSA-1, `other`, or `none`
 */
export type WriteAck = (ack: Uint8Array | undefined) => Promise<string>;

/** @param notTaken called when the sender does not take an ACK in time; it ends the connection */
export function createAckWriter(socket: Socket, metrics: Metrics, notTaken: () => void): WriteAck {
  const write = (frame: Uint8Array): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(notTaken, ACK_TIMEOUT_MS);
      metrics.bytes.inc({ direction: 'out' }, frame.byteLength);
      // An error ends the connection by itself; here it only must not be waited for.
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
