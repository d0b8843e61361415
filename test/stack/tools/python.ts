/** Python with the packages of `test/contract/clients/requirements.txt`, which npm cannot bring. */
import { spawn } from 'node:child_process';
import { execFile } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const python = (): string => process.env['PYTHON'] ?? 'python3';

/** Why a test of Python's clients cannot run and may say so. */
export const NO_PYTHON =
  'no python3 with fhirpy, fhirclient, Authlib and PyJWT: pip install -r test/contract/clients/requirements.txt, or set PYTHON';

/**
 * True where tests of Python's clients are skipped; where PYTHON_CLIENTS is `required` they have to run.
 *
 * @param packages what they import
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
 * @param args of the interpreter: a file, or `-c` and the program itself
 * @param input what it reads as JSON
 * @returns what it wrote as JSON; an error with what it said when it ends badly
 */
export async function runPython(args: readonly string[], input: unknown): Promise<unknown> {
  // What is imported from the tree leaves no files there.
  const child = spawn(python(), ['-B', ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify(input));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${errors}`);
  return JSON.parse(output);
}
