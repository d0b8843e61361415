/** The FHIR API's contract over HTTP, the same cases on workerd and on Deno. */
import { afterAll, beforeAll, describe } from 'vitest';

import { RUNTIMES } from '../stack/gateway.ts';
import { bundleCases } from './fhir/bundle-cases.ts';
import { clientCases } from './fhir/client-cases.ts';
import { conditionalCases } from './fhir/conditional-cases.ts';
import { exampleCases } from './fhir/example-cases.ts';
import { httpCases } from './fhir/http-cases.ts';
import { isolationCases } from './fhir/isolation-cases.ts';
import { pagingCases } from './fhir/paging-cases.ts';
import { resourceCases } from './fhir/resource-cases.ts';
import { searchCases } from './fhir/search-cases.ts';
import { startSubject, type Subject } from './fhir/subject.ts';

describe.each(RUNTIMES)('on %s', (runtime) => {
  let started: Subject | undefined;
  const subject = (): Subject => {
    if (started === undefined) throw new Error('the gateway has not started');
    return started;
  };
  beforeAll(async () => {
    started = await startSubject(runtime);
  });
  afterAll(() => started?.stop());

  describe('resources', () => resourceCases(subject));
  describe('search', () => searchCases(subject));
  describe('paging', () => pagingCases(subject));
  describe('conditions', () => conditionalCases(subject));
  describe('bundles', () => bundleCases(subject));
  describe('HTTP', () => httpCases(subject));
  describe('isolation', () => isolationCases(subject));
  describe('examples', () => exampleCases(subject));
  describe('clients', () => clientCases(subject));
});
