/** What every command line here does alike: `--help`, a call that is wrong, and an error, each in words and not a stack. */
import process from 'node:process';

/** The call is wrong: what is said is followed by how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What `parseArgs` of Node throws is a TypeError with a code. */
const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError || (error instanceof TypeError && 'code' in error);

/** Where `--help` is among the words of the call: says how to call the program, and ends it. */
export function helpOn(usage: string): void {
  if (!process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return;
  process.stdout.write(`${usage.trim()}\n`);
  process.exit(0);
}

/**
 * Runs a program and ends it with 0, or with 1 after an error.
 *
 * @param usage how to call it
 * @param explain what to say of an error; default its message
 */
export async function runProgram(
  usage: string,
  main: () => Promise<void>,
  explain: (error: unknown) => string = (error) => (error instanceof Error ? error.message : String(error)),
): Promise<void> {
  helpOn(usage);
  try {
    await main();
  } catch (error) {
    const said = explain(error).trimEnd();
    process.stderr.write(isUsage(error) ? `${said}\n\n${usage.trim()}\n` : `${said}\n`);
    process.exitCode = 1;
  }
}
