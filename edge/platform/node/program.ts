/** The common parts of all command lines: `--help`, wrong usage, and errors as a sentence instead of a stack. */
import process from 'node:process';

import { withoutFinalSlashes } from '../../../shared/final-slashes.ts';

/** Wrong usage: the message is followed by the command that prints the usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A base URL with a final slash, so that relative paths are resolved below it. @throws UsageError */
export function baseUrlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${text} must be an http or https URL`);
  return new URL(`${url.origin}${withoutFinalSlashes(url.pathname)}/`);
}

/** `parseArgs` of Node throws a TypeError with a code. */
const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError || (error instanceof TypeError && 'code' in error);

/** The command that prints a usage: it begins with the program's name. */
const helpFor = (usage: string): string => `${/npm (?:run (?:-s )?)?[\w:-]+/.exec(usage)?.[0] ?? ''} -- --help`;

/** Prints the usage and exits if the arguments contain `--help`. */
export function helpOn(usage: string): void {
  if (!process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return;
  process.stdout.write(`${usage.trim()}\n`);
  process.exit(0);
}

/**
 * Runs a program and exits with 0, or with 1 after an error.
 *
 * @param explain returns the text for an error, by default its message
 * @param help the command that prints the usage
 */
export async function runProgram(
  usage: string,
  main: () => Promise<void>,
  explain: (error: unknown) => string = (error) => (error instanceof Error ? error.message : String(error)),
  help: string = helpFor(usage),
): Promise<void> {
  helpOn(usage);
  try {
    await main();
  } catch (error) {
    const said = explain(error).trimEnd();
    process.stderr.write(isUsage(error) ? `${said}\nHelp: ${help}\n` : `${said}\n`);
    process.exitCode = 1;
  }
}
