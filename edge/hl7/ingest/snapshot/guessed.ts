/** A message as if what is believed of its sender and of its patients had just been found. */
import { doorOf, isOpenTo } from '../sender/find-sender.ts';
import { messageOf, rereading, type Located, type Received, type Sought } from './load.ts';
import type { Guesses } from './cache.ts';

/** What is longer is sent to the database once, when it is known what is to be stored of it. */
const MAX_GUESSED_BYTES = 128 * 1024;

/** @returns undefined where too little is known of its sender or of a patient, or too much is asked for */
export function guessed(guesses: Guesses, received: Received, sought: Sought, nowMs: number): Located | undefined {
  const { sender, bytes } = received;
  if (bytes.length > MAX_GUESSED_BYTES) return undefined;
  const door = doorOf(sender, messageOf(sought));
  const known = guesses.senderBehind(door, nowMs);
  if (known === undefined || !isOpenTo(door, known.settings.site)) return undefined;
  const read = rereading(received, sought, known.settings.charset) ?? sought;
  // Its key was chosen by its name in UTF-8; where that is another one, it is to be chosen anew.
  const isSameName =
    read.identity.application === sought.identity.application && read.identity.facility === sought.identity.facility;
  const found = isSameName ? guesses.foundFor(known, door, messageOf(read), nowMs) : undefined;
  return found && { status: 'located', ...read, isCrowded: false, isWhole: true, ...found };
}
