/**
 * The first of the two round trips: who sends, with which settings, whether the message was seen, and which resources
 * it speaks of. It reads; nothing is decided here.
 */
import { charsetNamed, type Charset } from '../../../shared/hl7/charset.ts';
import { Fault } from '../../../shared/fault.ts';
import { plainAddress } from '../../../shared/ip.ts';
import type { Deps, Query } from '../../deps.ts';
import { assertCaller, type CallerIdentity } from '../../store/api-key.ts';
import {
  EMPTY_STATE,
  matchesOf,
  sendersOf,
  type MatchRow,
  type MessageIdentity,
  type SenderChoice,
  type SenderRow,
} from '../../store/hl7.ts';
import type { Found } from '../mapping/drafts.ts';
import { readBytes, type Reading } from './reading.ts';
import { settingsOf } from '../sender/settings.ts';

export interface Context {
  readonly sender: SenderRow;
  readonly found: readonly Found[];
  /** Of what was found; it must still hold when the effects are stored. */
  readonly state: string;
  /** What every batch for an access token begins with. */
  readonly check: Query | undefined;
}

/** A round trip for a reading; undefined when no key is meant. */
export type Find = (reading: Reading) => Promise<Context | undefined>;

/** The key of an access token. */
export function findForCaller(deps: Deps, caller: CallerIdentity, sha256: string): Find {
  const check = assertCaller(caller);
  const choice: SenderChoice = { clientId: caller.clientId };
  return async (reading) => {
    const [, [row], matches] = await deps.database.batch([
      check,
      sendersOf(choice, identityOf(reading, sha256)),
      matchesOf(choice, reading.lookup),
    ]);
    return row === undefined ? undefined : contextOf(row, matches, check);
  };
}

/** A key of a site, whatever its status: for the administrator. */
export function findForKey(deps: Deps, site: string, clientId: string, sha256: string): Find {
  const choice: SenderChoice = { clientId };
  return async (reading) => {
    const [senders, matches] = await deps.database.batch([
      sendersOf(choice, identityOf(reading, sha256)),
      matchesOf(choice, reading.lookup),
    ]);
    const row = senders.find((sender) => sender.site_id === site);
    if (row === undefined) throw new Fault('not-found', 'no such API key');
    return contextOf(row, matches);
  };
}

/** Of the keys that may be meant the one that is; undefined refuses the message. */
export type SelectSender = (candidates: readonly SenderRow[], reading: Reading) => SenderRow | undefined;

/** The key that an address and a header choose (MLLP). */
export function findForAddress(deps: Deps, sourceAddress: string, select: SelectSender, sha256: string): Find {
  return async (reading) => {
    const identity = identityOf(reading, sha256);
    const { application, facility } = identity;
    const choice: SenderChoice = { sourceAddress: plainAddress(sourceAddress), application, facility };
    const [candidates, matches] = await deps.database.batch([
      sendersOf(choice, identity),
      matchesOf(choice, reading.lookup),
    ]);
    const row = select(candidates, reading);
    if (row === undefined) return undefined;
    if (row.is_allowed) return contextOf(row, matches);
    // A range that PostgreSQL reads otherwise than we do: ask again, by name.
    return contextOf(row, await deps.database.run(matchesOf({ clientId: row.client_id }, reading.lookup)));
  };
}

export interface Located {
  readonly reading: Reading;
  readonly context: Context;
}

/**
 * Reads a message and finds what it needs: one round trip, or two where the key's character set makes another message
 * of the bytes (it names none itself, and its identifiers are not ASCII).
 */
export async function locateMessage(bytes: Uint8Array, find: Find): Promise<Located | undefined> {
  const reading = readBytes(bytes, 'utf-8');
  const context = await find(reading);
  if (context === undefined) return undefined;
  const again = rereading(bytes, reading, settingsOf(context.sender).charset);
  if (again === undefined) return { reading, context };
  const isSameLookup = JSON.stringify(again.lookup) === JSON.stringify(reading.lookup);
  const found = isSameLookup ? context : await find(again);
  return found === undefined ? undefined : { reading: again, context: found };
}

function rereading(bytes: Uint8Array, reading: Reading, charset: Charset): Reading | undefined {
  const isNamed = reading.header.characterSets.some((name) => charsetNamed(name) !== undefined);
  const isReadSo = reading.message !== undefined && reading.header.charset === charset;
  return charset === 'utf-8' || isNamed || isReadSo ? undefined : readBytes(bytes, charset);
}

/** Bounded: also a header that is too broken to be read must be storable. */
export function identityOf({ header }: Reading, sha256: string): MessageIdentity {
  const bounded = (text: string | undefined): string => (text ?? '').slice(0, 200).toWellFormed();
  return {
    application: bounded(header.sendingApplication),
    facility: bounded(header.sendingFacility),
    controlId: bounded(header.controlId),
    sha256,
  };
}

function contextOf(sender: SenderRow, matches: readonly MatchRow[], check?: Query): Context {
  const own = matches.filter((match) => match.client_id === sender.client_id);
  return { sender, found: own.map(foundIn), state: own[0]?.state ?? EMPTY_STATE, check };
}

function foundIn({ role, key, contributions, type, id, version, last_updated, meta, body }: MatchRow): Found {
  return { role, key, contributions, resource: { type, id, version, last_updated, meta, body } };
}
