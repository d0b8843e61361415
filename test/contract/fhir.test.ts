/** The FHIR API's contract over HTTP. */
import { describe } from 'vitest';

import { onRuntimes } from './on-runtimes.ts';
import { answerCases } from './fhir/answer-cases.ts';
import { auditCases } from './fhir/audit-cases.ts';
import { bulkCases } from './fhir/bulk-cases.ts';
import { bulkConcurrentCases, bulkStreamCases } from './fhir/bulk-stream-cases.ts';
import { bundleCases, largeBundleCases } from './fhir/bundle-cases.ts';
import { clientCases } from './fhir/client-cases.ts';
import { compressionCases } from './fhir/compression-cases.ts';
import { conditionCases } from './fhir/condition-cases.ts';
import { conditionalCases } from './fhir/conditional-cases.ts';
import { everythingCases } from './fhir/everything-cases.ts';
import { exampleCases } from './fhir/example-cases.ts';
import { dateLimitCases, httpCases } from './fhir/http-cases.ts';
import { matchCases } from './fhir/match-cases.ts';
import { typeHistoryCases } from './fhir/type-history-cases.ts';
import { isolationCases } from './fhir/isolation-cases.ts';
import { lenientCases } from './fhir/lenient-cases.ts';
import { nameCases } from './fhir/name-cases.ts';
import { pagingCases, pagingOrderCases } from './fhir/paging-cases.ts';
import { patchCases } from './fhir/patch-cases.ts';
import { resourceCases } from './fhir/resource-cases.ts';
import { searchCases } from './fhir/search-cases.ts';
import { strictCases } from './fhir/strict-cases.ts';
import { strictTableCases } from './fhir/strict-table-cases.ts';
import { startSubject } from './fhir/subject.ts';
import { subsettedCases } from './fhir/subsetted-cases.ts';
import { callsCases } from './clients/calls-cases.ts';

onRuntimes(
  startSubject,
  (subject, runtime) => {
    describe('HTTP', () => httpCases(subject, runtime));
    describe('compression', () => compressionCases(subject));
  },
  (subject) => {
    describe('resources', () => resourceCases(subject));
    describe('bundles', () => bundleCases(subject));
    describe('search', () => searchCases(subject));
    describe('dates at the limits', () => dateLimitCases(subject));
    describe('large bundles', () => largeBundleCases(subject));
    describe('bulk data, read while others write', () => bulkConcurrentCases(subject));
    describe('isolation', () => isolationCases(subject));
    describe('examples', () => exampleCases(subject));
    describe('clients', () => clientCases(subject));
    describe('paging', () => pagingCases(subject));
    describe('conditions', () => conditionalCases(subject));
    describe('one answer', () => answerCases(subject));
    describe('bulk data', () => bulkCases(subject));
    describe('bulk data, read', () => bulkStreamCases(subject));
    describe('audit', () => auditCases(subject));
    describe('calls of clients', () => callsCases(subject));
    describe('names', () => nameCases(subject));
    describe('paging by several keys', () => pagingOrderCases(subject));
    describe('history of a type', () => typeHistoryCases(subject));
    describe('everything of a patient', () => everythingCases(subject));
    describe('match', () => matchCases(subject));
    describe('access by conditions', () => conditionCases(subject));
    describe('parts written back', () => subsettedCases(subject));
    describe('lenient', () => lenientCases(subject));
    describe('patch', () => patchCases(subject));
    describe('strictness', () => strictCases(subject));
    describe('table of unknown parameters and headers', () => strictTableCases(subject));
  },
);
