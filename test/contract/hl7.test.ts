/** HL7 over HTTP and from the sidecar, the same cases on workerd and on Deno. */
import { afterAll, beforeAll, describe } from 'vitest';

import { RUNTIMES } from '../stack/gateway.ts';
import { httpCases } from './hl7/http-cases.ts';
import { mllpCases } from './hl7/mllp-cases.ts';
import { startSubject, type Subject } from './hl7/subject.ts';

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

  describe('over HTTP', () => httpCases(subject));
  describe('from the sidecar', () => mllpCases(subject));
});
