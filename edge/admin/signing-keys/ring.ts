/**
 * The ring of keys that sign access tokens, for operators: the signing key, and when each key can be removed. Private keys
 * never leave this file.
 */
import * as z from 'zod';

import { daysSince, madeAt, rotationDue } from '../../../shared/oauth/signing-kid.ts';
import type { SigningRing } from '../../config.ts';
import type { SigningKeyRow } from '../../store/signing-key.ts';

/** The longest lifetime of an access token: a key stays published so long after it signed (edge/docs/behaviour.md, Token service). */
const LONGEST_TOKEN_MS = 3600 * 1000;

const instant = z.iso.datetime().nullable();

const SIGNING_KEY_STATES = ['signs', 'waits', 'has-signed'] as const;

export const signingKeyItem = z.object({
  kid: z.string(),
  algorithm: z.string(),
  state: z.enum(SIGNING_KEY_STATES).meta({
    description:
      '`waits`: published before it signs, so that every cache has it. `has-signed`: published until its tokens expire.',
  }),
  madeAt: instant.meta({
    description: 'The time in its kid, or the first time it signed; null if unknown.',
  }),
  ageDays: z.number().int().nullable(),
  signsSince: instant.meta({ description: 'The first time it signed, to the minute.' }),
  rotateBy: instant.meta({ description: 'For the signing key: a year after it was made.' }),
  neededUntil: instant.meta({ description: 'For a key that has signed: after this time all its tokens have expired.' }),
});
export type SigningKeyView = z.infer<typeof signingKeyItem>;

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

/** False for a ring that was rotated back: the time of the key's last signature is unknown. */
const signedBefore = (signedAt: number | undefined, turnedAt: number | undefined): turnedAt is number =>
  signedAt !== undefined && turnedAt !== undefined && signedAt <= turnedAt;

/** @param ring the first of its keys signs @param nowMs milliseconds since the epoch */
export function viewRing({ keys }: SigningRing, rows: readonly SigningKeyRow[], nowMs: number): SigningKeyView[] {
  const seen = new Map(rows.map(({ kid, first_seen: at }) => [kid, Date.parse(at)]));
  const turnedAt = seen.get(keys[0]?.kid ?? '');
  return keys.map(({ kid }, place) => {
    const signedAt = seen.get(kid);
    const made = madeAt(kid, signedAt);
    const state = place === 0 ? 'signs' : signedAt === undefined ? 'waits' : 'has-signed';
    return {
      kid,
      // The one of the ring (shared/es256-jwk.ts).
      algorithm: 'ES256',
      state,
      madeAt: iso(made),
      ageDays: made === undefined ? null : daysSince(made, nowMs),
      signsSince: iso(signedAt),
      rotateBy: place === 0 && made !== undefined ? iso(rotationDue(made)) : null,
      neededUntil: state === 'has-signed' && signedBefore(signedAt, turnedAt) ? iso(turnedAt + LONGEST_TOKEN_MS) : null,
    };
  });
}
