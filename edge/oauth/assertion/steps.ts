/**
 * Client authentication by `private_key_jwt` (RFC 7523 §3) as a table of steps in order. The token endpoint stops at the
 * first rejection (`authenticate.ts`). The workbench runs every step without an effect (`explain.ts`).
 */
import * as z from 'zod';

import { isAssertionAlgorithm } from '../../../shared/oauth/algorithms.ts';
import { quote } from '../../../shared/quote.ts';
import { sha256Of } from '../../http/crypto.ts';
import type { Reason, RefusalCode } from '../../refusals.ts';
import { overClientLimit } from '../attempt.ts';
import { CLAIM_CHECKS, CLOCK_TOLERANCE_SECONDS } from './claims.ts';
import { HEADER_CHECKS } from './header.ts';
import { findSigning } from './signing.ts';
import type { Outcome, Step } from './step.ts';

const SUCCESS: Outcome = { findings: {} };
const UNKNOWN: Outcome = { skipped: 'the client is not known' };

const outcomeOf = (refused: Reason | undefined): Outcome => (refused === undefined ? SUCCESS : { refused });
const refusedFor = (code: RefusalCode, reason: string): Outcome => ({ refused: { code, reason } });

/** This check precedes the table, whose steps need a parsed assertion. */
export const FORMAT = { code: 'format', title: 'three base64url parts, header and payload in JSON' } as const;

const findTheClient: Step = {
  code: 'client',
  title: 'sub or iss is the Client ID of an API key',
  seen: ({ jws: { claims } }) => claims['sub'] ?? claims['iss'],
  async run({ jws, clientId, formClientId }, { findClient }) {
    const { sub, iss } = jws.claims;
    if (clientId === undefined) {
      return refusedFor('client', `neither sub (${quote(sub)}) nor iss (${quote(iss)}) is a Client ID`);
    }
    if (formClientId !== undefined && formClientId !== sub) {
      return refusedFor('client', `client_id was ${quote(formClientId)}, sub was ${quote(sub)}`);
    }
    const client = await findClient(clientId);
    return client === undefined
      ? refusedFor('client', 'the gateway found no API key with this Client ID')
      : { findings: { client } };
  },
};

const headerSteps = HEADER_CHECKS.map(({ code, title, check }): Step => ({
  code,
  title,
  seen: ({ jws }) => jws.header[code],
  run({ jws, client }) {
    const reason = check(jws.header, { jwksUri: client?.jwks_uri ?? null });
    return reason === undefined ? SUCCESS : refusedFor(code, reason);
  },
}));

/** The first of the three steps tries all keys; each step reports its part of the result. */
const keySteps: readonly Step[] = [
  {
    code: 'jwks',
    title: 'the JWKS can be used',
    async run({ jws, client }, { clientKeys }) {
      if (client === undefined) return UNKNOWN;
      const { alg } = jws.header;
      if (!isAssertionAlgorithm(alg)) return { skipped: 'alg is not supported' };
      const signing = await findSigning(clientKeys, client, jws, alg);
      return !signing.isSigned && signing.failed === 'keys' ? { refused: signing.refusal } : { findings: { signing } };
    },
  },
  {
    code: 'kid',
    title: 'a key of the JWKS fits kid and alg',
    seen: ({ jws }) => jws.header['kid'],
    run({ signing }) {
      if (signing === undefined) return { skipped: 'there are no keys' };
      return !signing.isSigned && signing.failed === 'fit' ? { refused: signing.refusal } : SUCCESS;
    },
  },
  {
    code: 'signature',
    title: 'the signature verifies with a key of the JWKS',
    run({ signing }) {
      if (signing === undefined) return { skipped: 'there are no keys' };
      if (signing.isSigned) return SUCCESS;
      return signing.failed === 'signature' ? { refused: signing.refusal } : { skipped: 'no key fits' };
    },
  },
];

/** The client is authenticated here. Counting earlier would let other clients use up its limit. */
const countTheClient: Step = {
  code: 'rate',
  title: 'the client is within its limit of token requests',
  spends: 'limit',
  async run({ client }, { deps }) {
    return client === undefined ? UNKNOWN : outcomeOf(await overClientLimit(deps, client.client_id));
  },
};

const claimSteps = CLAIM_CHECKS.map(({ code, title, check }): Step => ({
  code,
  title,
  seen: ({ jws }) => jws.claims[code],
  run({ jws, clientId, audiences }, { deps }) {
    const reason = check(jws.claims, { clientId, audiences, now: Math.floor(deps.now() / 1000) });
    return reason === undefined ? SUCCESS : refusedFor(code, reason);
  },
}));

/** The claims that single use depends on, after their checks. */
const singleUse = z.object({ jti: z.string(), exp: z.number() });
/** Added to `exp` and the clock tolerance, so that a claim never expires before a replay is rejected. */
const CLAIM_MARGIN_SECONDS = 60;

/** RFC 7523 §3 rule 7: a client may use a `jti` once. */
const claimTheJti: Step = {
  code: 'replay',
  title: 'the jti has not been used before',
  spends: 'jti',
  async run({ jws, client }, { deps }) {
    if (client === undefined) return UNKNOWN;
    const { jti, exp } = singleUse.parse(jws.claims);
    const expires = exp + CLOCK_TOLERANCE_SECONDS + CLAIM_MARGIN_SECONDS;
    const isFirst = await deps.jtiStore.claim(client.client_id, await sha256Of(jti), expires, crypto.randomUUID());
    return isFirst
      ? SUCCESS
      : refusedFor('replay', 'the assertion has already been used: each request needs a new jti');
  },
};

const checkTheStatus: Step = {
  code: 'status',
  title: 'the API key is enabled',
  seen: ({ client }) => client?.status,
  run({ client }) {
    if (client === undefined) return UNKNOWN;
    return client.status === 'active' ? SUCCESS : refusedFor('status', 'the API key is disabled');
  },
};

/**
 * An assertion with an invalid signature has no effect. A rejection after the single-use step has used up the `jti`.
 */
export const STEPS: readonly Step[] = [
  findTheClient,
  ...headerSteps,
  ...keySteps,
  countTheClient,
  ...claimSteps,
  claimTheJti,
  checkTheStatus,
];
