/** Every call of HAPI FHIR's generic client, made by the program in `hapi`, with a token as the recipe of edge/docs/java.md gets it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { Subject } from '../fhir/subject.ts';
import { namesIn, type CallReport } from './outcomes.ts';
import { recipeOf } from './recipes.ts';

const run = promisify(execFile);

/** The directory to which `mvn -f test/contract/clients/hapi dependency:copy-dependencies -DoutputDirectory=…` copies the jars. */
const jars = (): string => process.env['HAPI_JARS'] ?? '';

/** Why the test of HAPI's client cannot run and says so. */
export const NO_HAPI =
  'a JDK and HAPI_JARS are needed: mvn -f test/contract/clients/hapi dependency:copy-dependencies -DoutputDirectory="$HAPI_JARS"';

export async function isHapiMissing(): Promise<boolean> {
  if (jars() === '') return true;
  return run('javac', ['-version']).then(
    () => false,
    () => true,
  );
}

/** Its own state and settings, and what `capabilities` was called in DSTU2. */
export const ASKS_NOTHING = namesIn(`
  registerInterceptor unregisterInterceptor getInterceptorService setInterceptorService
  setLogRequestAndResponse getEncoding setEncoding setPrettyPrint setFormatParamStyle setSummary
  getServerBase getFhirContext getHttpClient fetchConformance
`);

/** A Subscription of the subject's key with its events, which the program reads and asks for. */
export interface Subscribed {
  readonly id: string;
  /** The received bodies. */
  readonly notifications: readonly string[];
}

/** A notification, or an answer of `$status` or `$events`, as the program read it. */
export interface ReadNotification {
  readonly bundle: string;
  readonly type: string;
  /** The number of all events. */
  readonly count: number;
  /** Number and focus. */
  readonly events: readonly (readonly [string, string])[];
  /** `[type]/[id]/_history/[version]` of each resource; the method of the request for an entry without one. */
  readonly resources: readonly string[];
}

export async function hapiCalls(
  { root, gateway, key }: Subject,
  { id, notifications }: Subscribed,
): Promise<CallReport & { readonly notifications: readonly ReadNotification[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-hapi-'));
  try {
    await writeFile(join(folder, 'Gateway.java'), await recipeOf('java', 'ca.uhn.fhir'));
    const classpath = [folder, join(jars(), '*')].join(delimiter);
    const sources = [fileURLToPath(new URL('hapi/Calls.java', import.meta.url)), join(folder, 'Gateway.java')];
    await run('javac', ['-d', folder, '-cp', classpath, ...sources]);
    const files = notifications.map((_, n) => join(folder, `${n}.json`));
    await Promise.all(files.map((file, n) => writeFile(file, notifications[n] ?? '')));
    const login = [root, `${gateway.oauthBaseUrl}/oauth2/token`, key.clientId, JSON.stringify(key.privateJwk)];
    const { stdout } = await run('java', ['-cp', classpath, 'Calls', ...login, id, ...files]);
    return JSON.parse(stdout) as CallReport & { notifications: ReadNotification[] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
