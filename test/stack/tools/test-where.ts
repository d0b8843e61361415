/** `test`, or nothing: a case of one runtime is not declared on the others, so that no report has it as skipped. */
import { test } from 'vitest';

export const testWhere = (
  isDeclared: boolean,
): ((name: string, run: () => Promise<void> | void, timeout?: number) => void) => (isDeclared ? test : () => undefined);
