/**
 * Runs the samples of the API reference as they are served, with the ids of a reader. Each gets a success status of its operation, by curl, by Python with requests, by Node, by Java, and by C# on Mono.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { useFolder } from '../stack/tools/use-folder.ts';
import { clientAssertion, getToken } from '../stack/services/client.ts';
import { freePort } from '../stack/services/free-port.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { until } from '../stack/services/until.ts';
import { useTestDatabase } from '../stack/tools/database.ts';
import { type Gateway, startGateway } from '../stack/tools/gateway.ts';
import { isPythonMissing, runPython } from '../stack/tools/python.ts';
import { everyNth, isFull } from '../stack/tools/size.ts';
import { testWhere } from '../stack/tools/test-where.ts';
import { giveInput } from '../stack/tools/standard-input.ts';

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}

/** A sample with what its reader fills in, and the environment that it takes its token from. */
interface Program {
  readonly source: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs programs one after the other. @returns of each what it printed */
type Run = (programs: readonly Program[]) => Promise<readonly string[]>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const FHIR_JSON = 'application/fhir+json';
const PATIENT = 'createPatient';

let gateway: Gateway;
const folder = await useFolder('reference-samples');
/** In the order in which their samples are run. */
let operations: readonly (readonly [path: string, operation: Operation])[];
/** By language, each of a separate site, so that the languages run side by side. */
const programs = new Map<string, readonly Program[]>();

const db = await useTestDatabase();
beforeAll(async () => {
  const port = await freePort();
  const docs = `http://127.0.0.1:${port}/docs`;
  gateway = await startGateway({ runtime: 'deno', database: db, port, env: { INTEGRATION_DOCS_URL: docs } });
  // A sample prints the body alone: this setting makes curl print the status before it ends.
  await writeFile(join(folder, '.curlrc'), 'write-out = "\\n%{http_code}"\n');
  const served = await fetch(`${docs}/openapi.json`);
  const { paths } = (await served.json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  operations = Object.entries(paths)
    .flatMap(([path, item]) =>
      METHODS.flatMap((method) => (item[method] === undefined ? [] : [[path, item[method]] as const])),
    )
    .toSorted(([, one], [, other]) => turnOf(one) - turnOf(other));
  for (const label of ['curl', 'Python', 'JavaScript', 'Java', 'C#']) programs.set(label, await programsOf(label));
});
afterAll(() => gateway.kill());

const execute = (command: string, args: readonly string[], env: Program['env'], input = ''): Promise<string> =>
  new Promise((resolve) => {
    const child = execFile(command, args, { cwd: folder, env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve(error === null ? stdout : `${stdout}${stderr}${error.message}`),
    );
    giveInput(child.stdin, input);
  });

/** The last line is the status; this puts it first for all. */
async function byCurl(programs: readonly Program[]): Promise<readonly string[]> {
  const printed: string[] = [];
  for (const { source, env } of programs) {
    const lines = (await execute('sh', ['-c', source], { ...env, CURL_HOME: folder })).split('\n');
    printed.push(`${lines.pop()} ${lines.join('\n')}`);
  }
  return printed;
}

const PYTHON = `
import contextlib, io, json, os, sys
printed = []
for program in json.load(sys.stdin):
    os.environ.update(program["env"])
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(program["source"], {})
        except Exception as error:
            print(repr(error))
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
`;
const byPython: Run = async (programs) => (await runPython(['-c', PYTHON], programs)) as string[];

/** Each is a separate module; the number separates two of the same text. */
const NODE = `
import { text } from 'node:stream/consumers';
const { log } = console;
const printed = [];
for (const [number, { source, env }] of JSON.parse(await text(process.stdin)).entries()) {
  Object.assign(process.env, env);
  const lines = [];
  console.log = (...words) => lines.push(words.join(' '));
  const module = encodeURIComponent(source + '\\n// ' + number);
  await import('data:text/javascript,' + module).catch((error) => lines.push(String(error)));
  printed.push(lines.join('\\n'));
}
log(JSON.stringify(printed));
`;
async function byNode(programs: readonly Program[]): Promise<readonly string[]> {
  const args = ['--input-type=module', '-e', NODE];
  return JSON.parse(await execute(process.execPath, args, {}, JSON.stringify(programs))) as string[];
}

/** Prints a separator before the output of each class. */
const JAVA_RUN = `public class Run {
  public static void main(String[] names) throws Exception {
    for (var name : names) {
      System.out.print('\\u001e');
      try {
        Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
      } catch (java.lang.reflect.InvocationTargetException error) {
        System.out.println(error.getCause());
      }
    }
  }
}`;
const CSHARP_RUN = `public class Run {
  public static void Main(string[] names) {
    foreach (var name in names) {
      System.Console.Write('\\u001e');
      try {
        ((System.Threading.Tasks.Task) System.Type.GetType(name).GetMethod("Main").Invoke(null, null)).GetAwaiter().GetResult();
      } catch (System.Exception error) {
        System.Console.WriteLine(error);
      }
    }
  }
}`;

/** A language whose programs are compiled together. */
interface Compiled {
  readonly extension: string;
  readonly run: string;
  readonly compile: readonly [command: string, ...args: string[]];
  readonly start: readonly [command: string, ...args: string[]];
}

const JAVA: Compiled = {
  extension: 'java',
  run: JAVA_RUN,
  compile: ['javac', '-encoding', 'UTF-8'],
  start: ['java', '-cp', '.', 'Run'],
};
/** C# 7.2 is the newest that Mono compiles. The samples use only what current .NET has too. */
const CSHARP: Compiled = {
  extension: 'cs',
  run: CSHARP_RUN,
  compile: ['mcs', '-langversion:latest', '-main:Run', '-out:Run.exe', '-r:System.Net.Http.dll'],
  start: ['mono', 'Run.exe'],
};

/** Compiled once; programs with the same environment share a process. */
const byCompiled = async (
  { extension, run, compile: [compiler, ...options], start: [starter, ...before] }: Compiled,
  programs: readonly Program[],
): Promise<readonly string[]> => {
  const names = programs.map((_, number) => `Example${number}`);
  await writeFile(join(folder, `Run.${extension}`), run);
  for (const [number, { source }] of programs.entries()) {
    const named = source.replace(/class Example\b/, `class Example${number}`);
    await writeFile(join(folder, `Example${number}.${extension}`), named);
  }
  const files = ['Run', ...names].map((name) => `${name}.${extension}`);
  expect(await execute(compiler, [...options, ...files], {})).toBe('');
  const groups: { env: Program['env']; names: string[] }[] = [];
  for (const [number, { env }] of programs.entries()) {
    const last = groups.at(-1);
    if (last !== undefined && JSON.stringify(last.env) === JSON.stringify(env)) last.names.push(`Example${number}`);
    else groups.push({ env, names: [`Example${number}`] });
  }
  const printed: string[] = [];
  for (const { env, names: together } of groups)
    printed.push(...(await execute(starter, [...before, ...together], env)).split('\u001e').slice(1));
  return printed;
};
const byJava: Run = (programs) => byCompiled(JAVA, programs);
const byCSharp: Run = (programs) => byCompiled(CSHARP, programs);

const PLACEHOLDER = /(?:([\w$]+)\/)?00000000-0000-0000-0000-000000000000/g;
/** @param ids by the segment before them in a path; without one, the id is a patient's */
const filledIn = (sample: string, ids: ReadonlyMap<string, string>): string =>
  sample
    .replaceAll(PLACEHOLDER, (_, before?: string) =>
      before === undefined ? (ids.get('Patient') ?? '') : `${before}/${ids.get(before)}`,
    )
    .replaceAll('{file}', ids.get('{file}') ?? '');

/** The data of a reader who has worked with the API: a resource of each type, a complete export, and tokens. */
async function makeReader() {
  const site = await createSite(db.client);
  const key = await createApiKey(db.client, { site, patientMatch: true });
  const tokens = {
    fhir: await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' }),
    hl7: await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' }),
  };
  const authorization = `Bearer ${tokens.fhir}`;
  const ids = new Map<string, string>();
  const creates = operations.filter(
    ([path, { operationId }]) => operationId === `create${path.slice('/fhir/'.length)}`,
  );
  for (const [path, { operationId, requestBody }] of creates.toSorted(([, one]) =>
    one.operationId === PATIENT ? -1 : 0,
  )) {
    const body = filledIn(JSON.stringify(requestBody?.content[FHIR_JSON]?.example), ids);
    const headers = { authorization, 'content-type': FHIR_JSON };
    const created = await fetch(`${gateway.fhirBaseUrl}${path}`, { method: 'POST', headers, body });
    const { id } = (await created.json()) as { readonly id: string };
    expect(created.status, operationId).toBe(201);
    ids.set(path.slice('/fhir/'.length), id);
  }
  const kickOff = { headers: { authorization, prefer: 'respond-async' } };
  const status = (await fetch(`${gateway.fhirBaseUrl}/fhir/$export`, kickOff)).headers.get('content-location') ?? '';
  const { output } = await until('the export is complete', async () => {
    const asked = await fetch(status, { headers: { authorization } });
    return asked.status === 200 && ((await asked.json()) as { readonly output: readonly { readonly url: string }[] });
  });
  ids.set('$export', status.split('/').at(-1) ?? '').set('{file}', output[0]?.url.split('/').at(-1) ?? '');
  return { site, key, tokens, ids };
}
type Reader = Awaited<ReturnType<typeof makeReader>>;

/** The environment of a sample. An export counts for its key, and a revoked token has no further use. */
async function environmentOf({ site, key, tokens }: Reader, path: string, { operationId }: Operation) {
  const own = /^(?:exportSystem|exportPatients|revoke)/.test(operationId);
  const client = own ? await createApiKey(db.client, { site, patientMatch: true }) : key;
  const fhir = own ? await getToken(gateway.oauthBaseUrl, client, { audience: 'svc-fhir' }) : tokens.fhir;
  const assertion = path.startsWith('/oauth2/')
    ? { CLIENT_ASSERTION: await clientAssertion(client, `${gateway.oauthBaseUrl}${path}`) }
    : {};
  return { ACCESS_TOKEN: path.startsWith('/hl7/') ? tokens.hl7 : fhir, ...assertion };
}

/**
 * Operations that make a second match for a condition run after the conditions; operations that end something run last.
 */
const turnOf = ({ operationId }: Operation): number =>
  ['create', 'cancel'].findIndex((verb) => operationId.startsWith(verb));

async function programsOf(label: string): Promise<readonly Program[]> {
  const reader = await makeReader();
  const made: Program[] = [];
  for (const [path, operation] of operations) {
    const sample = operation['x-codeSamples'].find((one) => one.label === label)?.source ?? '';
    made.push({ source: filledIn(sample, reader.ids), env: await environmentOf(reader, path, operation) });
  }
  return made;
}

/** For languages whose samples take many seconds to compile. */
const testCompiled = testWhere(isFull);

/**
 * @param every 8: at the normal size, only the samples of every eighth operation
 * @returns the operations whose sample is not answered as it should be, with what was printed
 */
async function wrongOf(label: string, run: Run, every = 1): Promise<readonly string[]> {
  const printed = await run(everyNth(every, programs.get(label) ?? []));
  return everyNth(every, operations).flatMap(([, { operationId, responses }], n) => {
    const said = printed[n] ?? '';
    const status = said.slice(0, 3);
    const isGood = status.startsWith('2') && status in responses;
    // $validate and a batch answer 200 with any findings.
    const isRefused = /"severity": ?"(?:error|fatal)"|"status": ?"[45]\d\d/.test(said);
    return isGood && !isRefused ? [] : [`${operationId}: ${said}`];
  });
}

describe.concurrent('the samples of the API reference', () => {
  test('are of every operation, in five languages', ({ expect: expected }) => {
    expected(operations.length).toBeGreaterThan(110);
    const labels = new Set(
      operations.map(([, operation]) => operation['x-codeSamples'].map((one) => one.label).join()),
    );
    expected([...labels]).toEqual(['curl,Python,JavaScript,Java,C#']);
  });

  test('curl', async ({ expect: expected, skip }) => {
    skip(!(await execute('curl', ['--version'], {})).startsWith('curl'), 'no curl');
    // Each sample is a process.
    expected(await wrongOf('curl', byCurl, 8)).toEqual([]);
  });

  test('Python', async ({ expect: expected, skip }) => {
    skip(await isPythonMissing('requests'), 'no python3 with requests: pip install requests, or set PYTHON');
    expected(await wrongOf('Python', byPython)).toEqual([]);
  });

  test('JavaScript', async ({ expect: expected }) => {
    expected(await wrongOf('JavaScript', byNode)).toEqual([]);
  });

  testCompiled('Java', async ({ expect: expected, skip }) => {
    skip(!(await execute('javac', ['--version'], {})).startsWith('javac'), 'no JDK 17 or newer');
    expected(await wrongOf('Java', byJava)).toEqual([]);
  });

  testCompiled('C#', async ({ expect: expected, skip }) => {
    skip(
      !(await execute('mcs', ['--version'], {})).startsWith('Mono C#'),
      'no C# compiler: install mono-mcs and mono-runtime',
    );
    expected(await wrongOf('C#', byCSharp)).toEqual([]);
  });
});
