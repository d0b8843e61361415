/**
 * The `kid` of a key that signs access tokens: it begins with the day on which the key was made, so that whoever sees the
 * published keys can tell how old they are. A ring is turned once a year.
 */

export const SIGNING_KEY_MAX_AGE_DAYS = 365;
const DAY_MS = 86_400_000;

/** @param nowMs milliseconds since the epoch @param random makes it one of its own */
export const signingKid = (nowMs: number, random: string): string =>
  `${new Date(nowMs).toISOString().slice(0, 10)}-${random}`;

/** The day that a kid of ours begins with, in milliseconds since the epoch; undefined of a kid that was made elsewhere. */
function dayOf(kid: string): number | undefined {
  const day = Date.parse(/^\d{4}-\d{2}-\d{2}(?=-)/.exec(kid)?.[0] ?? '');
  return Number.isNaN(day) ? undefined : day;
}

/**
 * When a key was made: the day of its kid, or when it was first seen to sign, whichever is earlier, so that a kid from the
 * future keeps no key young.
 *
 * @param firstSeen milliseconds since the epoch, where it is known
 */
export function madeAt(kid: string, firstSeen?: number): number | undefined {
  const known = [dayOf(kid), firstSeen].filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Whole days from an instant to another; one that is still to come is none ago. */
export const daysSince = (fromMs: number, nowMs: number): number => Math.max(0, Math.floor((nowMs - fromMs) / DAY_MS));

/** When a key that was made then is to be replaced at the latest. */
export const rotationDue = (madeAtMs: number): number => madeAtMs + SIGNING_KEY_MAX_AGE_DAYS * DAY_MS;
