/** The common parts of all command lines: `--help`, wrong usage, and errors as a sentence instead of a stack. */
import process from 'node:process';
import type { Readable } from 'node:stream';
import { parseArgs, type ParseArgsConfig } from 'node:util';

import { withoutFinalSlashes } from '../../../shared/final-slashes.ts';
import { POSTGRES_URL } from '../../../shared/postgres-url.ts';

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

/** `parseArgs` of Node, which would use only the last value of a repeated option. @throws UsageError */
export function parseOptions<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const { tokens = [] } = parseArgs({ ...config, tokens: true });
  const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const again = names.find((name, at) => names.indexOf(name) < at && config.options?.[name]?.multiple !== true);
  if (again !== undefined) throw new UsageError(`--${again} is given more than once`);
  return parseArgs(config);
}

/** The connection string in a variable of the environment. @throws UsageError if the variable has no connection string */
export function postgresUrl(variable: string): string {
  const url = process.env[variable] ?? '';
  if (url === '') throw new UsageError(`${variable} is not set`);
  if (!POSTGRES_URL.test(url)) throw new UsageError(`${variable} must be a postgres:// connection string`);
  return url;
}

/** `parseArgs` of Node throws a TypeError with a code. */
const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError || (error instanceof TypeError && 'code' in error);

/** The command that prints a usage: it begins with the program's name. */
const helpFor = (usage: string): string => `${/npm (?:run (?:-s )?)?[\w:-]+/.exec(usage)?.[0] ?? ''} -- --help`;

const asksHelp = (args: readonly string[]): boolean => args.some((word) => word === '--help' || word === '-h');

/** Prints the usage and exits if the arguments contain `--help`. */
export function helpOn(usage: string): void {
  if (!asksHelp(process.argv.slice(2))) return;
  process.stdout.write(`${usage.trim()}\n`);
  process.exit(0);
}

/** The arguments and streams of a program. */
export interface Terminal {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly input: Readable;
  readonly output: { write(text: string): unknown };
  readonly errors: { write(text: string): unknown; readonly isTTY?: boolean };
}

/** The exit code of a program that SIGPIPE ends, which Node ignores. */
const NO_READER = 128 + 13;

function endWithoutOutput(error: Error & { readonly code?: string }): never {
  // As `head` closes a pipe: its reader has what it wanted.
  if (error.code === 'EPIPE') process.exit(NO_READER);
  process.stderr.write(`the output cannot be written: ${error.message}\n`);
  process.exit(1);
}

/** The terminal of this process. */
export function ownTerminal(): Terminal {
  process.stdout.on('error', endWithoutOutput);
  process.stderr.on('error', () => process.exit(NO_READER));
  return {
    args: process.argv.slice(2),
    env: process.env,
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Runs a program, or prints its usage if the arguments contain `--help`.
 *
 * @param explain returns the text for an error, by default its message
 * @param help the command that prints the usage
 * @returns the exit code: 0, or 1 after an error
 */
export async function runOn(
  { args, output, errors }: Terminal,
  usage: string,
  main: () => Promise<void>,
  explain: (error: unknown) => string = messageOf,
  help: string = helpFor(usage),
): Promise<0 | 1> {
  try {
    if (asksHelp(args)) output.write(`${usage.trim()}\n`);
    else await main();
    return 0;
  } catch (error) {
    const said = explain(error).trimEnd();
    errors.write(isUsage(error) ? `${said}\nHelp: ${help}\n` : `${said}\n`);
    return 1;
  }
}

/** Runs the program of this process, which then exits with 0, or with 1 after an error. */
export async function runProgram(usage: string, main: () => Promise<void>): Promise<void> {
  if ((await runOn(ownTerminal(), usage, main)) === 1) process.exitCode = 1;
}
