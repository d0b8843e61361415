/**
 * The ring of keys that sign access tokens, as an operator sees it: which one signs and since when, and when each may go.
 * Nothing of a private half leaves this file.
 */
import * as z from 'zod';

import { daysSince, madeAt, rotationDue } from '../../../shared/oauth/signing-kid.ts';
import type { SigningRing } from '../../config.ts';
import type { SigningKeyRow } from '../../store/signing-key.ts';

/** No access token lives longer (edge/docs/behaviour.md, Token service): so long a key that has signed stays published. */
const LONGEST_TOKEN_MS = 3600 * 1000;

const instant = z.iso.datetime().nullable();

export const SIGNING_KEY_STATES = ['signs', 'waits', 'has-signed'] as const;

export const signingKeyItem = z.object({
  kid: z.string(),
  algorithm: z.string(),
  state: z.enum(SIGNING_KEY_STATES).meta({
    description:
      '`waits`: published, so that every cache has it before it signs. `has-signed`: for tokens that are out.',
  }),
  madeAt: instant.meta({
    description: 'By the day in its kid, or when it was first seen to sign; null: nobody knows.',
  }),
  ageDays: z.number().int().nullable(),
  signsSince: instant.meta({ description: 'When it was first seen to sign, to the minute.' }),
  rotateBy: instant.meta({ description: 'Of the key that signs: a year after it was made.' }),
  neededUntil: instant.meta({ description: 'Of one that has signed: from then on no token of it is good any more.' }),
});
export type SigningKeyView = z.infer<typeof signingKeyItem>;

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

/** A ring that was turned back: when the key signed last nobody has noted. */
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
