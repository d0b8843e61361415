/** The standard input of a program that a test starts. */
import type { Writable } from 'node:stream';

/**
 * Writes the whole input. A program may end before it has read it. The test does not fail for that: the exit code and the output
 * show what happened.
 */
export const giveInput = (stdin: Writable | null, input: string): void =>
  void stdin?.on('error', () => undefined).end(input);
