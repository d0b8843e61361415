/**
 * The `kid` of a key that signs access tokens. It begins with the day on which the key was made, so that the published
 * keys show their age. Keys are rotated once a year.
 */

export const SIGNING_KEY_MAX_AGE_DAYS = 365;
const DAY_MS = 86_400_000;

/** @param nowMs milliseconds since the epoch @param random distinguishes keys of one day */
export const signingKid = (nowMs: number, random: string): string =>
  `${new Date(nowMs).toISOString().slice(0, 10)}-${random}`;

/** The day of a kid in milliseconds since the epoch; undefined for a kid in another format. */
function dayOf(kid: string): number | undefined {
  const day = Date.parse(/^\d{4}-\d{2}-\d{2}(?=-)/.exec(kid)?.[0] ?? '');
  return Number.isNaN(day) ? undefined : day;
}

/**
 * When a key was made: the day of its kid or the time of its first signature, the earlier of the two. A kid with a future
 * date therefore cannot delay the rotation.
 *
 * @param firstSeen milliseconds since the epoch, if known
 */
export function madeAt(kid: string, firstSeen?: number): number | undefined {
  const known = [dayOf(kid), firstSeen].filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Full days between two instants; 0 if the first is later. */
export const daysSince = (fromMs: number, nowMs: number): number => Math.max(0, Math.floor((nowMs - fromMs) / DAY_MS));

/** When a key must be replaced at the latest. */
export const rotationDue = (madeAtMs: number): number => madeAtMs + SIGNING_KEY_MAX_AGE_DAYS * DAY_MS;
