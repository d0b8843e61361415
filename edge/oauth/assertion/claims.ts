/**
 * The rules for the claims of a client assertion with a valid signature (RFC 7523 §3), one check for each rule. Single use
 * of the `jti` is checked elsewhere, since it needs a store.
 */
import type { Json, JsonObject } from '../../../shared/json.ts';
import { quote } from '../../../shared/quote.ts';
import type { Check } from './check.ts';

export interface ClaimContext {
  /** The client from `sub` or `iss`; undefined if neither is a Client ID, so that both are rejected. */
  readonly clientId: string | undefined;
  /** The accepted values of `aud`: URLs of the endpoint. */
  readonly audiences: readonly string[];
  /** Seconds since the epoch. */
  readonly now: number;
}

/** The maximum distance of `exp`; SMART specifies five minutes. */
const MAX_ASSERTION_LIFETIME_SECONDS = 300;
/** The accepted difference between the client's clock and the gateway's. */
export const CLOCK_TOLERANCE_SECONDS = 30;
/** `iat` and `nbf` may be further ahead: such clocks are common, and harmless because `exp` is limited. */
const MAX_AHEAD_SECONDS = 60;
const MAX_JTI_BYTES = 255;
/** Seconds in the year 5138: a larger value is in milliseconds. */
const MIN_MILLISECONDS = 1e11;

const CLOCK = "is the client's clock right?";

function checkIdentity(name: string, value: Json | undefined, clientId: string | undefined): string | undefined {
  if (clientId === undefined) return `${name} was ${quote(value)}, expected a Client ID`;
  return value === clientId ? undefined : `${name} was ${quote(value)}, expected the Client ID ${quote(clientId)}`;
}

/** RFC 7519 §2 NumericDate, restricted to whole seconds. */
function wholeSeconds(name: string, value: Json | undefined): { seconds: number } | { reason: string } {
  if (value === undefined) return { reason: `${name} is missing` };
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    return { reason: `${name} was ${quote(value)}, expected whole seconds since 1970` };
  }
  if (value > MIN_MILLISECONDS) return { reason: `${name} was ${value}: are these milliseconds? expected seconds` };
  return { seconds: value };
}

function checkExp({ exp }: JsonObject, { now }: ClaimContext): string | undefined {
  const read = wholeSeconds('exp', exp);
  if ('reason' in read) return read.reason;
  const ahead = read.seconds - now;
  if (ahead <= -CLOCK_TOLERANCE_SECONDS) return `exp is ${-ahead} s in the past; ${CLOCK}`;
  if (ahead > MAX_ASSERTION_LIFETIME_SECONDS + CLOCK_TOLERANCE_SECONDS) {
    return `exp is ${ahead} s ahead, at most ${MAX_ASSERTION_LIFETIME_SECONDS} are allowed; ${CLOCK}`;
  }
  return undefined;
}

/** `nbf` and `iat` are optional and checked if present; an assertion cannot end before it begins. */
const checkStart =
  (name: 'nbf' | 'iat') =>
  (claims: JsonObject, { now }: ClaimContext): string | undefined => {
    if (claims[name] === undefined) return undefined;
    const read = wholeSeconds(name, claims[name]);
    if ('reason' in read) return read.reason;
    const ahead = read.seconds - now;
    if (ahead > MAX_AHEAD_SECONDS) return `${name} is ${ahead} s ahead; ${CLOCK}`;
    if (typeof claims['exp'] === 'number' && claims['exp'] <= read.seconds) return `exp is not after ${name}`;
    const oldest = MAX_ASSERTION_LIFETIME_SECONDS + CLOCK_TOLERANCE_SECONDS;
    if (name === 'iat' && -ahead > oldest)
      return `iat is ${-ahead} s in the past, at most ${oldest} are allowed; ${CLOCK}`;
    return undefined;
  };

function checkJti({ jti }: JsonObject): string | undefined {
  if (jti === undefined) return 'jti is missing: each assertion needs a new one';
  if (typeof jti !== 'string') return `jti was ${quote(jti)}, expected a string`;
  if (jti.trim() === '') return 'jti is empty';
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f]/.test(jti) || !jti.isWellFormed()) return 'jti has control characters';
  if (new TextEncoder().encode(jti).length > MAX_JTI_BYTES) return `jti has more than ${MAX_JTI_BYTES} bytes`;
  return undefined;
}

export const CLAIM_CHECKS: readonly Check<ClaimContext>[] = [
  {
    code: 'sub',
    title: 'sub is the Client ID', // RFC 7523 §3 rule 2.B
    check: ({ sub }, { clientId }) => checkIdentity('sub', sub, clientId),
  },
  {
    code: 'iss',
    title: 'iss is the Client ID', // RFC 7523 §3 rule 1
    check: ({ iss }, { clientId }) => checkIdentity('iss', iss, clientId),
  },
  {
    code: 'aud',
    title: 'aud is the token endpoint, alone', // RFC 7523 §3 rule 3
    check: ({ aud }, { audiences }) => {
      const only = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
      if (typeof only === 'string' && audiences.includes(only)) return undefined;
      return `aud was ${quote(aud)}, expected ${quote(audiences[0])}`;
    },
  },
  { code: 'exp', title: 'exp is in the future, but not too far', check: checkExp }, // RFC 7523 §3 rule 4
  { code: 'nbf', title: 'nbf, if present, is not in the future', check: checkStart('nbf') }, // rule 5
  { code: 'iat', title: 'iat, if present, is recent', check: checkStart('iat') }, // rule 6
  { code: 'jti', title: 'jti is a usable identifier', check: checkJti }, // rule 7
];
