import { randomUUID } from 'node:crypto';

/** A UUIDv7 (RFC 9562 §5.7) of exactly this time, even if the process has made later ids. @param ms since the epoch */
export function idAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
