/**
 * The log of refused and failed requests: those of one reason are added up in memory and written behind the answers, so that
 * a storm of them costs a statement in some seconds and a few rows, and no request waits for it or fails by it. What is
 * noted are codes, places and sentences of ours, and of a token request what it said of itself: never a token, never what a
 * resource or a message holds.
 */
import type { Context } from 'hono';

import { MAX_REQUEST_IDS, type Refusal } from '../store/refusal.ts';
import type { UsageSurface } from '../store/usage.ts';
import type { GatewayEnv } from './surface.ts';
import { type Behind, writeBehind } from './write-behind.ts';

/** One request that was refused or failed, of a key. */
export interface RefusedRequest extends Pick<Refusal, 'clientId' | 'answer' | 'code' | 'reason' | 'sourceAddress'> {
  readonly requestId: string;
  /** There is such a key. Whoever is not known may name any, and crowds out only others of that kind. */
  readonly isKnown: boolean;
}

export type NoteRefusal = (request: RefusedRequest) => void;

/** What is beyond it, until the next write, is counted nowhere. */
const MAX_REASONS = 1_000;
/** Of a code of a key; the others are one that says no more. */
const MAX_REASONS_OF_CODE = 10;
const MAX_REASON_LENGTH = 1_000;
/** Soon enough for who tries and looks. */
const FIRST_MS = 200;

type Growing = { -readonly [Member in keyof Refusal]: Refusal[Member] } & { readonly requestIds: string[] };

function tally() {
  const noted = new Map<string, Growing>();
  const reasonsOfCode = new Map<string, number>();
  return {
    noted: (): readonly Refusal[] => [...noted.values()],
    add(surface: UsageSurface, refused: RefusedRequest, at: number): void {
      const { isKnown: _, requestId, ...request } = refused;
      const { clientId, answer, code, sourceAddress } = request;
      const ofCode = JSON.stringify([clientId, surface, code]);
      const reasons = reasonsOfCode.get(ofCode) ?? 0;
      const told = request.reason.slice(0, MAX_REASON_LENGTH).toWellFormed().replaceAll('\0', '');
      const keyOf = (reason: string): string => JSON.stringify([ofCode, answer, reason]);
      const reason = noted.has(keyOf(told)) || reasons < MAX_REASONS_OF_CODE ? told : '';
      const known = noted.get(keyOf(reason));
      if (known !== undefined) {
        Object.assign(known, { requests: known.requests + 1, lastAt: at, sourceAddress });
        known.requestIds.unshift(requestId);
        known.requestIds.length = Math.min(known.requestIds.length, MAX_REQUEST_IDS);
        return;
      }
      if (noted.size >= MAX_REASONS) return;
      reasonsOfCode.set(ofCode, reasons + 1);
      noted.set(keyOf(reason), {
        ...request,
        surface,
        reason,
        requests: 1,
        firstAt: at,
        lastAt: at,
        requestIds: [requestId],
      });
    },
  };
}

/**
 * @param collectMs between writes
 * @returns what notes the refusals of each surface, all of which are written together
 */
export function createRefusals(
  behind: Behind,
  collectMs: number,
  write: (refusals: readonly Refusal[]) => Promise<unknown>,
): (surface: UsageSurface) => NoteRefusal {
  let ofKnown = tally();
  let ofOthers = tally();
  const wake = writeBehind(behind, { firstMs: Math.min(FIRST_MS, collectMs), collectMs }, async () => {
    const noted = [...ofKnown.noted(), ...ofOthers.noted()];
    ofKnown = tally();
    ofOthers = tally();
    if (noted.length > 0) await write(noted);
  });
  return (surface) => (request) => {
    (request.isKnown ? ofKnown : ofOthers).add(surface, request, behind.now());
    wake();
  };
}

/**
 * Notes a request of a surface with access tokens, if it is known whose it is: who brings no token, or one that is not ours,
 * is nobody, whatever the token says.
 *
 * @param told undefined for what is not to be noted
 */
export function noteAnswer(
  c: Context<GatewayEnv>,
  note: NoteRefusal | undefined,
  sourceAddress: string,
  status: number,
  told: Pick<Refusal, 'code' | 'reason'>,
): void {
  const clientId = c.get('use')?.clientId;
  if (clientId === undefined) return;
  const requestId = c.get('requestId');
  note?.({ clientId, isKnown: true, answer: `${status}`, requestId, sourceAddress, ...told });
}
