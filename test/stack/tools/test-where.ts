/** `test`, or nothing: a case of one runtime is not declared on the others, so that no report has it as skipped. */
import { test, type TestFunction } from 'vitest';

export const testWhere = (isDeclared: boolean): ((name: string, run: TestFunction, timeout?: number) => void) =>
  isDeclared ? test : () => undefined;
