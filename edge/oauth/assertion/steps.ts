/**
 * Client authentication by `private_key_jwt` (RFC 7523 §3) as one table of steps, in the order in which they are made. The
 * token endpoint stops at the first refusal (`authenticate.ts`), the workbench makes them all but those that use something
 * up (`explain.ts`).
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

const PASSED: Outcome = { learned: {} };
const UNKNOWN: Outcome = { skipped: 'the client is not known' };

const outcomeOf = (refused: Reason | undefined): Outcome => (refused === undefined ? PASSED : { refused });
const refusedFor = (code: RefusalCode, reason: string): Outcome => ({ refused: { code, reason } });

/** Made before the table, which is about assertions that could be read. */
export const FORMAT = { code: 'format', title: 'three base64url parts, header and payload in JSON' } as const;

const findTheClient: Step = {
  code: 'client',
  title: 'sub or iss is a Client ID of this site',
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
      ? refusedFor('client', 'no API key of this site has this Client ID')
      : { learned: { client } };
  },
};

const headerSteps = HEADER_CHECKS.map(({ code, title, check }): Step => ({
  code,
  title,
  seen: ({ jws }) => jws.header[code],
  run({ jws, client }) {
    const reason = check(jws.header, { jwksUri: client?.jwks_uri ?? null });
    return reason === undefined ? PASSED : refusedFor(code, reason);
  },
}));

/** The keys are tried in the first of the three, all of them at once; each says what it has to say of that. */
const keySteps: readonly Step[] = [
  {
    code: 'jwks',
    title: 'the JWKS can be used',
    async run({ jws, client }, { clientKeys }) {
      if (client === undefined) return UNKNOWN;
      const { alg } = jws.header;
      if (!isAssertionAlgorithm(alg)) return { skipped: 'alg is not supported' };
      const signing = await findSigning(clientKeys, client, jws, alg);
      return !signing.isSigned && signing.failed === 'keys' ? { refused: signing.refusal } : { learned: { signing } };
    },
  },
  {
    code: 'kid',
    title: 'a key of the JWKS fits kid and alg',
    seen: ({ jws }) => jws.header['kid'],
    run({ signing }) {
      if (signing === undefined) return { skipped: 'there are no keys' };
      return !signing.isSigned && signing.failed === 'fit' ? { refused: signing.refusal } : PASSED;
    },
  },
  {
    code: 'signature',
    title: 'the signature verifies with a key of the JWKS',
    run({ signing }) {
      if (signing === undefined) return { skipped: 'there are no keys' };
      if (signing.isSigned) return PASSED;
      return signing.failed === 'signature' ? { refused: signing.refusal } : { skipped: 'no key fits' };
    },
  },
];

/** Here the client is who it claims to be: before, anybody could use up its limit. */
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
    return reason === undefined ? PASSED : refusedFor(code, reason);
  },
}));

/** What single use needs of claims that were checked. */
const singleUse = z.object({ jti: z.string(), exp: z.number() });
/** Beyond `exp` and the clock's tolerance, so that no replay finds the claim just gone. */
const CLAIM_MARGIN_SECONDS = 60;

/** RFC 7523 §3 rule 7: the first use of a `jti` by its client is the only one. */
const claimTheJti: Step = {
  code: 'replay',
  title: 'the jti was not used before',
  spends: 'jti',
  async run({ jws, client }, { deps }) {
    if (client === undefined) return UNKNOWN;
    const { jti, exp } = singleUse.parse(jws.claims);
    const expires = exp + CLOCK_TOLERANCE_SECONDS + CLAIM_MARGIN_SECONDS;
    const isFirst = await deps.jtiStore.claim(client.client_id, await sha256Of(jti), expires, crypto.randomUUID());
    return isFirst ? PASSED : refusedFor('replay', 'assertion already used: each request needs a new jti');
  },
};

const checkTheStatus: Step = {
  code: 'status',
  title: 'the API key is enabled',
  seen: ({ client }) => client?.status,
  run({ client }) {
    if (client === undefined) return UNKNOWN;
    return client.status === 'active' ? PASSED : refusedFor('status', 'the API key is disabled');
  },
};

/**
 * An assertion whose signature is bad spends nothing; one that is refused for what follows its single use has used its
 * `jti`.
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
