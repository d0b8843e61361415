/** UUID version 7 (RFC 9562 §5.7): ids sort by creation time, so that the order of ids is the order of creation. */

let lastMs = 0;
let sequence = 0;

/**
 * A new UUIDv7. Ids of one process ascend within a millisecond too (RFC 9562 §6.2, method 1: a 12-bit counter).
 *
 * @param nowMs milliseconds since the epoch
 */
export function uuidv7(nowMs: number): string {
  sequence = nowMs > lastMs ? 0 : sequence + 1;
  lastMs = Math.max(nowMs, lastMs);
  if (sequence > 0xfff) {
    sequence = 0;
    lastMs += 1;
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const counter = sequence.toString(16).padStart(3, '0');
  // The variant and 62 random bits end a UUIDv4 as they end a UUIDv7; the runtime makes them faster than we could.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${crypto.randomUUID().slice(19)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for a UUID in canonical lower case, which is how the gateway writes every id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The creation time of a UUIDv7 in milliseconds since the epoch; undefined for any other text. */
export function timeOfUuidv7(text: string): number | undefined {
  if (!isUuid(text) || text[14] !== '7') return undefined;
  return Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16);
}
