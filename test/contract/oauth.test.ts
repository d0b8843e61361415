/** The token endpoint's contract over HTTP, the same cases on workerd and on Deno. */
import { afterAll, beforeAll, describe } from 'vitest';

import { RUNTIMES } from '../stack/gateway.ts';
import { bearerCases } from './oauth/bearer-cases.ts';
import { claimCases } from './oauth/claim-cases.ts';
import { discoveryCases } from './oauth/discovery-cases.ts';
import { formCases } from './oauth/form-cases.ts';
import { jwsCases } from './oauth/jws-cases.ts';
import { keyCases } from './oauth/key-cases.ts';
import { startSubject, type Subject } from './oauth/subject.ts';
import { useCases } from './oauth/use-cases.ts';

describe.each(RUNTIMES)('on %s', (runtime) => {
  let started: Subject | undefined;
  const subject = (): Subject => {
    if (started === undefined) throw new Error('the gateway has not started');
    return started;
  };
  beforeAll(async () => {
    started = await startSubject({ runtime, prefix: '/gateway' });
  });
  afterAll(() => started?.stop());

  describe('HTTP and form', () => formCases(subject));
  describe('JWS and header', () => jwsCases(subject));
  describe('keys and signatures', () => keyCases(subject));
  describe('claims', () => claimCases(subject));
  describe('bearer, introspection, revocation', () => bearerCases(subject));
  describe('discovery', () => discoveryCases(subject));
  describe('use, state, scope and audience', () => useCases(subject));
});
