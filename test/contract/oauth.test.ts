/** The token endpoint's contract over HTTP. */
import { describe } from 'vitest';

import { onRuntimes } from './on-runtimes.ts';
import { bearerCases } from './oauth/bearer-cases.ts';
import { claimCases } from './oauth/claim-cases.ts';
import { discoveryCases } from './oauth/discovery-cases.ts';
import { formCases } from './oauth/form-cases.ts';
import { jwsCases } from './oauth/jws-cases.ts';
import { keyCases } from './oauth/key-cases.ts';
import { startSubject } from './oauth/subject.ts';
import { useCases } from './oauth/use-cases.ts';

onRuntimes(
  (runtime) => startSubject({ runtime, prefix: '/gateway' }),
  (subject) => {
    describe('HTTP and form', () => formCases(subject));
    describe('JWS and header', () => jwsCases(subject));
    describe('keys and signatures', () => keyCases(subject));
    describe('bearer, introspection, revocation', () => bearerCases(subject));
  },
  (subject) => {
    describe('claims', () => claimCases(subject));
    describe('discovery', () => discoveryCases(subject));
    describe('use, state, scope and audience', () => useCases(subject));
  },
);
