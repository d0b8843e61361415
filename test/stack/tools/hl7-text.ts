/** HL7 v2 messages as tests write them, one segment a line, and what tests read of an ACK. */
import { openBytes, readOpened, type Reading } from '../../../edge/hl7/ingest/reading.ts';
import type { Message } from '../../../shared/hl7/message.ts';

/** The segments that were read, each ended by CR (HL7 v2.5.1 §2.5). */
export function writeMessage(message: Message): string {
  return message.segments.map((segment) => `${segment.raw}\r`).join('');
}

/** The bytes of a message written one segment a line. */
export function bytesOf(message: string | Uint8Array): Uint8Array {
  if (typeof message !== 'string') return message;
  return new TextEncoder().encode(message.trim().replaceAll(/\r?\n\s*/g, '\r'));
}

/** `E 101 PID^1^3^1^1` for each ERR of an ACK. */
export function errorsOf(ack: string): string[] {
  return ack
    .split('\r')
    .filter((line) => line.startsWith('ERR'))
    .map((line) => line.split('|'))
    .map((fields) => `${fields[4]} ${fields[3]?.split('^')[0]} ${fields[2]}`);
}

let control = 0;
/** An MSH with a unique control id. */
export function msh(type: string, controlId = `C${(control += 1)}`): string {
  return `MSH|^~\\&|LAB|HOSP|GATEWAY|SITE|20260102030405+0100||${type}|${controlId}|P|2.5.1`;
}

/** A message as a key without rules reads it. */
export const readBytes = (...given: Parameters<typeof openBytes>): Reading => readOpened(openBytes(...given));
