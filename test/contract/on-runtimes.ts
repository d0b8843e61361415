/**
 * The same cases on workerd and on Deno. Each runtime is started once, and the cases ask for it when they run.
 *
 * Some cases are about code of the edge that neither a runtime nor a database driver changes. Examples are the scopes of
 * conditions, and the patient of a message. `npm test` runs them on one runtime, `npm run test:full` on each.
 */
import { afterAll, beforeAll, describe } from 'vitest';

import { ONE_RUNTIME, type Runtime, RUNTIMES } from '../stack/tools/gateway.ts';
import { testWhere } from '../stack/tools/test-where.ts';

/** Declares a test of ONE_RUNTIME among tests of each runtime. */
export const testOfOne = (runtime: Runtime): ReturnType<typeof testWhere> => testWhere(ONE_RUNTIME.includes(runtime));

interface Stoppable {
  stop(): Promise<void>;
}

function onEach<Subject extends Stoppable>(
  runtimes: readonly Runtime[],
  start: (runtime: Runtime) => Promise<Subject>,
  cases: (subject: () => Subject, runtime: Runtime) => void,
): void {
  describe.each(runtimes)('on %s', (runtime) => {
    let started: Subject | undefined;
    beforeAll(async () => {
      started = await start(runtime);
    });
    afterAll(() => started?.stop());

    const subject = (): Subject => {
      if (started === undefined) throw new Error('the gateway has not started');
      return started;
    };
    cases(subject, runtime);
  });
}

/**
 * @param start the subject of the cases, started again for each runtime
 * @param cases declares the tests; `subject` may be called from within a test only
 * @param ofOne declares the tests of ONE_RUNTIME
 */
export function onRuntimes<Subject extends Stoppable>(
  start: (runtime: Runtime) => Promise<Subject>,
  cases: (subject: () => Subject, runtime: Runtime) => void,
  ofOne: (subject: () => Subject) => void = () => undefined,
): void {
  onEach(RUNTIMES, start, (subject, runtime) => {
    cases(subject, runtime);
    if (ONE_RUNTIME.includes(runtime)) ofOne(subject);
  });
}

/** As `onRuntimes`, for a file with tests of ONE_RUNTIME only. */
export function onOneRuntime<Subject extends Stoppable>(
  start: (runtime: Runtime) => Promise<Subject>,
  cases: (subject: () => Subject) => void,
): void {
  onEach(ONE_RUNTIME, start, cases);
}
