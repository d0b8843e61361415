/** HL7 over HTTP and from the sidecar. */
import { describe } from 'vitest';

import { onRuntimes } from './on-runtimes.ts';
import { answerCases } from './hl7/answer-cases.ts';
import { againCases } from './hl7/again-cases.ts';
import { patientSubject, orderOf } from './hl7/patient-subject.ts';
import { identityCases, type PatientSubject } from './hl7/identity-cases.ts';
import { personCases } from './hl7/person-cases.ts';
import { batchCases } from './hl7/batch-cases.ts';
import { httpCases } from './hl7/http-cases.ts';
import { mergeCases } from './hl7/merge-cases.ts';
import { mllpCases } from './hl7/mllp-cases.ts';
import { orderCases } from './hl7/order-cases.ts';
import { resultCases } from './hl7/result-cases.ts';
import { typeCases } from './hl7/type-cases.ts';
import { startSubject } from './hl7/subject.ts';
import { isFull } from '../stack/tools/size.ts';

onRuntimes(
  startSubject,
  (subject, runtime) => {
    describe('over HTTP', () => httpCases(subject, runtime));
    describe('a batch', () => batchCases(subject));
    describe('from the sidecar', () => mllpCases(subject));
  },
  (subject) => {
    describe('the answer', () => answerCases(subject));
    describe('repeated messages', () => againCases(subject));
    describe('types and events', () => typeCases(subject));
    describe('result keys', () => resultCases(subject));
    describe('results in a merge', () => mergeCases(subject));
    // test/integration/hl7 runs these cases without a gateway, at every size.
    if (!isFull) return;
    describe('any order of arrival', () => orderCases(() => orderOf(subject())));
    describe('the patient record of a message', () => identityCases(() => patientSubject(subject())));
    describe('persons', () => {
      let patients: PatientSubject | undefined;
      personCases(() => (patients ??= patientSubject(subject())));
    });
  },
);
