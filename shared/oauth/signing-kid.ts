/**
 * The `kid` of a key that signs access tokens. It begins with the time at which the key was made, so that the published
 * keys show their age and their order. Keys are rotated once a year.
 */

export const SIGNING_KEY_MAX_AGE_DAYS = 365;
const DAY_MS = 86_400_000;

/** @param nowMs milliseconds since the epoch @param random distinguishes keys of one millisecond */
export const signingKid = (nowMs: number, random: string): string => `${new Date(nowMs).toISOString()}-${random}`;

/** The time of a kid in milliseconds since the epoch; undefined for a kid in another format. Older kids have only the day. */
function timeOf(kid: string): number | undefined {
  const time = Date.parse(/^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?(?=-)/.exec(kid)?.[0] ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/**
 * When a key was made: the time of its kid or of its first signature, the earlier of the two. A kid with a future
 * date therefore cannot delay the rotation.
 *
 * @param firstSeen milliseconds since the epoch, if known
 */
export function madeAt(kid: string, firstSeen?: number): number | undefined {
  const known = [timeOf(kid), firstSeen].filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Full days between two instants; 0 if the first is later. */
export const daysSince = (fromMs: number, nowMs: number): number => Math.max(0, Math.floor((nowMs - fromMs) / DAY_MS));

/** When a key must be replaced at the latest. */
export const rotationDue = (madeAtMs: number): number => madeAtMs + SIGNING_KEY_MAX_AGE_DAYS * DAY_MS;
