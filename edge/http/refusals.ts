/**
 * The log of rejected and failed requests. Requests with the same reason are counted in memory and written in the
 * background. A storm costs one statement every few seconds, and no request waits for it. An entry contains codes,
 * locations, fixed sentences and the stated client of a token request, but never a token or any content.
 */
import type { Context } from 'hono';

import { MAX_REQUEST_IDS, type Refusal } from '../store/refusal.ts';
import type { UsageSurface } from '../store/usage.ts';
import type { GatewayEnv } from './surface.ts';
import { type Behind, writeBehind } from './write-behind.ts';

/** One rejected or failed request of a key. */
export interface RefusedRequest extends Pick<Refusal, 'clientId' | 'answer' | 'code' | 'reason' | 'sourceAddress'> {
  readonly requestId: string;
  /** True if the key exists. Unknown Client IDs have their own limit, so that they cannot displace known ones. */
  readonly isKnown: boolean;
}

export type NoteRefusal = (request: RefusedRequest) => void;

/** Further reasons are not counted until the next write. */
const MAX_REASONS = 1_000;
/** Per key and code; further reasons of the code are counted together without a text. */
const MAX_REASONS_OF_CODE = 10;
const MAX_REASON_LENGTH = 1_000;
/** Soon enough for a developer who tries a request and checks the console. */
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
      const details = request.reason.slice(0, MAX_REASON_LENGTH).toWellFormed().replaceAll('\0', '');
      const keyOf = (reason: string): string => JSON.stringify([ofCode, answer, reason]);
      const reason = noted.has(keyOf(details)) || reasons < MAX_REASONS_OF_CODE ? details : '';
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
 * @returns a function for each surface that notes refusals; all are written together
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
 * Notes a refused request of a surface with access tokens if its client has been authenticated. A request without a valid
 * token belongs to no key.
 */
export function noteAnswer(
  c: Context<GatewayEnv>,
  note: NoteRefusal | undefined,
  sourceAddress: string,
  status: number,
  details: Pick<Refusal, 'code' | 'reason'>,
): void {
  const clientId = c.get('use')?.clientId;
  if (clientId === undefined) return;
  const requestId = c.get('requestId');
  note?.({ clientId, isKnown: true, answer: `${status}`, requestId, sourceAddress, ...details });
}
