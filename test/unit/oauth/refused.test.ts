/** The answer to a refused caller, for every code: a new code needs a row here. */
import { describe, expect, test } from 'vitest';

import { Fault } from '../../../shared/fault.ts';
import { asRefused, inNameOf, refuse, Refused } from '../../../edge/oauth/refused.ts';
import { type RefusalCode, TOKEN_REFUSALS } from '../../../edge/refusals.ts';

const REASON = 'kid "a" is not in the JWKS';
const C = 'unauthenticated invalid_client client authentication failed';
const EXACT = `unauthenticated invalid_client ${REASON}`;
const bad = (error: string) => `malformed ${error} ${REASON}`;

/** In the order of the checks: before the signature is verified, the answer reveals nothing, nor the status of the key. */
const DESCRIPTIONS: Readonly<Record<RefusalCode, string>> = {
  form: bad('invalid_request'),
  grant_type: bad('unsupported_grant_type'),
  credentials: bad('invalid_request'),
  authentication: C,
  format: C,
  client: C,
  header: C,
  alg: C,
  typ: C,
  kid: C,
  jwks: C,
  jwks_uri: C,
  signature: C,
  rate: `throttled temporarily_unavailable ${REASON}`,
  sub: EXACT,
  iss: EXACT,
  aud: EXACT,
  exp: EXACT,
  nbf: EXACT,
  iat: EXACT,
  jti: EXACT,
  replay: EXACT,
  status: C,
  scope: bad('invalid_scope'),
  audience: bad('invalid_target'),
  owner: bad('invalid_grant'),
  unavailable: `unavailable temporarily_unavailable ${REASON}`,
};

const CODES = Object.keys(TOKEN_REFUSALS) as RefusalCode[];

describe('a refusal', () => {
  test.each(CODES)('by %s', (code) => {
    const { fault, refusal } = refuse({ code, reason: REASON });
    expect(`${fault.kind} ${fault.code} ${fault.message}`).toBe(DESCRIPTIONS[code]);
    expect(refusal).toEqual({ code, reason: REASON });
  });

  test.each(CODES.filter((code) => DESCRIPTIONS[code] === C))('by %s has the same answer for every reason', (code) => {
    expect(refuse({ code, reason: REASON }).fault).toEqual(refuse({ code: 'client', reason: 'another' }).fault);
  });

  test('has a challenge with its 401, a Retry-After with its 429', () => {
    const challenge = 'Bearer realm="integration-gateway", error="invalid_client"';
    const headersOf = (code: RefusalCode) => refuse({ code, reason: REASON }).fault.headers;
    expect(headersOf('kid')).toEqual({ 'WWW-Authenticate': challenge });
    const described = `${challenge}, error_description="kid 'a' is not in the JWKS"`;
    expect(headersOf('aud')).toEqual({ 'WWW-Authenticate': described });
    expect(headersOf('rate')).toEqual({ 'Retry-After': '60' });
    expect(headersOf('scope')).toEqual({});
  });

  test('for a grant_type that is missing is invalid_request (RFC 6749 §5.2)', () => {
    expect(refuse({ code: 'grant_type', reason: REASON, isMissing: true }).fault.code).toBe('invalid_request');
  });
});

describe('the client of a recorded refusal', () => {
  const thrownBy = async (clientId: string | undefined, error: unknown): Promise<unknown> =>
    inNameOf(clientId, () => Promise.reject(error)).catch((thrown: unknown) => thrown);

  test('is the client of the work, and the innermost of two', async () => {
    const inner = await thrownBy('svc-a', refuse({ code: 'aud', reason: REASON }));
    const outer = await thrownBy('svc-b', inner);
    expect(outer).toBe(inner);
    expect(outer).toMatchObject({ clientId: 'svc-a', refusal: { code: 'aud' } });
  });

  test('is known even if a part of the gateway is unavailable', async () => {
    const fault = new Fault('unavailable', 'the database cannot be reached');
    const thrown = await thrownBy('svc-a', fault);
    expect(thrown).toBeInstanceOf(Refused);
    expect(thrown).toMatchObject({ fault, clientId: 'svc-a', refusal: { code: 'unavailable' } });
  });

  test('does not exist for a bug, nor for a Fault that is not Refused', async () => {
    for (const error of [new TypeError('a bug'), new Fault('unauthenticated', 'no token')]) {
      expect(await thrownBy('svc-a', error)).toBe(error);
      expect(asRefused(error)).toBeUndefined();
    }
  });
});
