/** A message with all that must be known to decide about it: read, its sender found, and what it speaks of. */
import { charsetNamed, type Charset } from '../../../../shared/hl7/charset.ts';
import type { Header } from '../../../../shared/hl7/header.ts';
import type { Database } from '../../../deps.ts';
import { MAX_FOUND_PATIENTS, type MessageIdentity } from '../../../store/hl7.ts';
import { authoritiesOf } from '../../patients/authorities.ts';
import { numbersOfField } from '../../patients/sent-identifiers.ts';
import { identifierFields, narrowed } from '../../message/outline.ts';
import { findSender, type FoundSender, type Sender, type SoughtMessage } from '../sender/find-sender.ts';
import type { NoKey } from '../sender/select-key.ts';
import { readBytes, type Reading } from '../reading.ts';

/** A message as it came. */
export interface Received {
  readonly sender: Sender;
  readonly bytes: Uint8Array;
  /** Of the bytes, base64url. */
  readonly sha256: string;
}

export interface Located extends FoundSender, Sought {
  readonly status: 'located';
  /** So many patients have one of the numbers in its own domain that not all were found: nobody can be told. */
  readonly isCrowded: boolean;
  /** All that the message speaks of was looked for; else what identifies nobody was left out, because of a crowd. */
  readonly isWhole: boolean;
}

/** No key is meant, or two of different sites are: nothing can be stored. */
export interface NoSender {
  readonly status: 'no-sender';
  readonly header: Header;
  readonly refusal: NoKey;
}

/** A message as it was read by a character set, and by which look-up it is to be found. */
export interface Sought {
  readonly reading: Reading;
  readonly identity: MessageIdentity;
  /** By which it was read, where it names none itself. */
  readonly charset: Charset;
}

/** @param charset UTF-8, as long as the sender's is not known */
export function soughtBy({ bytes, sha256 }: Pick<Received, 'bytes' | 'sha256'>, charset: Charset = 'utf-8'): Sought {
  const reading = readBytes(bytes, charset);
  return { reading, identity: identityOf(reading.header, sha256), charset };
}

/** What is asked for of it. */
export const messageOf = ({ reading: { header, lookup }, identity }: Sought): SoughtMessage => ({
  header,
  identity,
  lookup,
});

/**
 * Finds what a message needs: one round trip, or two where the key's character set makes another message of the bytes (it
 * names none itself, and its identifiers are not ASCII), or where a crowd has one of the numbers.
 */
export async function locate(
  database: Database,
  received: Received,
  sought: Sought = soughtBy(received),
): Promise<Located | NoSender> {
  return locatedBy(database, received, sought, await findSender(database, received.sender, messageOf(sought)));
}

/** The same, where it is known already what the message as it was read finds. */
export async function locatedBy(
  database: Database,
  received: Received,
  { reading, identity, charset }: Sought,
  found: FoundSender | NoKey,
): Promise<Located | NoSender> {
  const { sender } = received;
  const { header, lookup } = reading;
  const sought: Sought = { reading, identity, charset };
  if ('refused' in found) return { status: 'no-sender', header, refusal: found };

  const again = rereading(received, sought, found.settings.charset);
  if (again === undefined) return outOfCrowd(database, sender, { ...sought, ...found });
  const isSameLookup = JSON.stringify(again.reading.lookup) === JSON.stringify(lookup);
  const foundAgain = isSameLookup ? found : await findSender(database, sender, messageOf(again));
  if ('refused' in foundAgain) return { status: 'no-sender', header, refusal: foundAgain };
  return outOfCrowd(database, sender, { ...again, ...foundAgain });
}

/** @param isOf which numbers of patients count */
function isCrowd({ patients }: FoundSender, isOf: (value: string, domain: string) => boolean): boolean {
  const holders = new Map<string, number>();
  for (const { numbers } of patients) {
    const values = new Set(numbers.filter(([domain, value]) => isOf(value, domain)).map(([, value]) => value));
    for (const value of values) holders.set(value, (holders.get(value) ?? 0) + 1);
  }
  return Math.max(0, ...holders.values()) >= MAX_FOUND_PATIENTS;
}

/**
 * A number that many patients have hides the one whom another number means, or whom it means in its own domain. The
 * patients are looked for by those that identify alone, not by a placeholder of the site or a social security number, and
 * first in their own domains: only there a crowd has no end that can be seen.
 */
async function outOfCrowd(
  database: Database,
  sender: Sender,
  located: Omit<Located, 'status' | 'isCrowded' | 'isWhole'>,
): Promise<Located | NoSender> {
  const { reading, identity, charset, settings } = located;
  const { header, outline, rule } = reading;
  if (!isCrowd(located, () => true)) return { status: 'located', isCrowded: false, isWhole: true, ...located };
  const crowded: Located = { status: 'located', isCrowded: true, isWhole: true, ...located };
  if (outline === undefined || rule === undefined) return crowded;
  const fields = identifierFields(outline, rule);
  const { authorities } = authoritiesOf(settings, header.segment, fields);
  const numbers = fields
    .flatMap(({ segment, field }) => numbersOfField(segment, field, authorities, settings))
    .filter(({ identifies }) => identifies);
  if (numbers.length === 0) return crowded;
  const lookup = narrowed(reading.lookup, numbers);
  const narrow: Sought = { reading: { ...reading, lookup }, identity, charset };
  const found = await findSender(database, sender, messageOf(narrow));
  if ('refused' in found) return { status: 'no-sender', header, refusal: found };
  const isOwn = (value: string, id: string): boolean =>
    numbers.some((number) => number.value === value && number.domain.ids.includes(id));
  return { status: 'located', ...narrow, isCrowded: isCrowd(found, isOwn), isWhole: false, ...found };
}

/** The message in another character set; undefined where it reads the same in it. */
export function rereading(
  received: Received,
  { reading, charset: readBy }: Sought,
  charset: Charset,
): Sought | undefined {
  const isNamed = reading.header.characterSets.some((name) => charsetNamed(name) !== undefined);
  const isReadSo = reading.message !== undefined && reading.header.charset === charset;
  return charset === readBy || isNamed || isReadSo ? undefined : soughtBy(received, charset);
}

/** Bounded: also a header that is too broken to be read must be storable. */
function identityOf(header: Header, sha256: string): MessageIdentity {
  const bounded = (text: string | undefined): string => (text ?? '').slice(0, 200).toWellFormed();
  return {
    application: bounded(header.sendingApplication),
    facility: bounded(header.sendingFacility),
    controlId: bounded(header.controlId),
    sha256,
  };
}
