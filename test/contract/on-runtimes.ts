/** The same cases on workerd and on Deno: each runtime is started once, and the cases ask for it when they run. */
import { afterAll, beforeAll, describe } from 'vitest';

import { type Runtime, RUNTIMES } from '../stack/tools/gateway.ts';

/**
 * @param start what the cases are about, started anew for each runtime
 * @param cases declares the tests; `subject` may be called from within a test only
 */
export function onRuntimes<Subject extends { stop(): Promise<void> }>(
  start: (runtime: Runtime) => Promise<Subject>,
  cases: (subject: () => Subject) => void,
): void {
  describe.each(RUNTIMES)('on %s', (runtime) => {
    let started: Subject | undefined;
    beforeAll(async () => {
      started = await start(runtime);
    });
    afterAll(() => started?.stop());

    cases(() => {
      if (started === undefined) throw new Error('the gateway has not started');
      return started;
    });
  });
}
