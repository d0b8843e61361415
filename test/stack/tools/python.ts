/** Python with the packages of `test/contract/clients/requirements.txt`, which npm cannot bring. */
import { spawn } from 'node:child_process';
import { execFile } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { giveInput } from './standard-input.ts';

const python = (): string => process.env['PYTHON'] ?? 'python3';

/** Why a test of Python's clients cannot run and may say so. */
export const NO_PYTHON =
  'no python3 with fhirpy, fhirclient, Authlib and PyJWT: pip install -r test/contract/clients/requirements.txt, or set PYTHON';

/**
 * True where tests of Python's clients are skipped; where PYTHON_CLIENTS is `required` they have to run.
 *
 * @param packages the packages that they import
 */
export async function isPythonMissing(
  packages = 'fhirpy, fhirclient, authlib, joserfc, jwt, requests',
): Promise<boolean> {
  if (process.env['PYTHON_CLIENTS'] === 'required') return false;
  return promisify(execFile)(python(), ['-c', `import ${packages}`]).then(
    () => false,
    () => true,
  );
}

/**
 * Runs a program.
 *
 * @param args the arguments of the interpreter: a file, or `-c` and the program itself
 * @param input its standard input, as JSON
 * @returns its standard output, parsed as JSON; an error with its output if it fails
 */
export async function runPython(args: readonly string[], input: unknown): Promise<unknown> {
  // Imports from the tree must not write files there.
  const child = spawn(python(), ['-B', ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  giveInput(child.stdin, JSON.stringify(input));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${errors}`);
  return JSON.parse(output);
}
