/**
 * The limits of a runtime, in a separate workerd with two Workers. One has a constant answer. The other only verifies a token
 * and makes one subrequest (bare-worker.ts).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { build } from 'esbuild';

import { ROOT } from '../stack/services/build.ts';
import { freePort } from '../stack/services/free-port.ts';
import { workerSettings } from '../stack/services/worker-settings.ts';
import { quote, startWorkerd } from './workerd.ts';

const HELLO = `export default { fetch: () => new Response('{"ok":true}') };`;

export interface BareRequest {
  /** The key of TOKEN_SIGNING_KEYS that signs, as JSON. */
  readonly key: string;
  readonly issuer: string;
  readonly endpointUrl: string;
  readonly databaseUrl: string;
  readonly query: string;
  readonly params: readonly string[];
}

export interface Limits {
  readonly helloUrl: string;
  readonly bareUrl: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function serveLimits({
  key,
  issuer,
  endpointUrl,
  databaseUrl,
  query,
  params,
}: BareRequest): Promise<Limits> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-limits-'));
  const [helloPort, barePort] = [await freePort(), await freePort()];
  const { compatibilityDate } = await workerSettings(ROOT);
  await build({
    entryPoints: [join(import.meta.dirname, 'bare-worker.ts')],
    outfile: join(folder, 'bare.js'),
    bundle: true,
    format: 'esm',
    target: 'es2024',
  });
  await writeFile(join(folder, 'hello.js'), HELLO);
  const { d: _private, ...publicJwk } = JSON.parse(key) as Record<string, string>;
  const env = {
    KEY: JSON.stringify(publicJwk),
    ISSUER: issuer,
    ENDPOINT: endpointUrl,
    DATABASE_URL: databaseUrl,
    QUERY: JSON.stringify({ query, params }),
  };
  const bindings = Object.entries(env).map(([name, text]) => `(name = ${quote(name)}, text = ${quote(text)})`);
  const socket = (name: string, port: number): string =>
    `(name = ${quote(name)}, address = "127.0.0.1:${port}", http = (), service = ${quote(name)})`;
  await writeFile(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = ["--max-semi-space-size=4"],
  services = [
    (name = "hello", worker = (modules = [(name = "hello.js", esModule = embed "hello.js")], compatibilityDate = ${quote(compatibilityDate)})),
    (name = "bare", worker = (modules = [(name = "bare.js", esModule = embed "bare.js")], compatibilityDate = ${quote(compatibilityDate)},
      globalOutbound = "net", bindings = [${bindings.join(', ')}])),
    (name = "net", network = (allow = ["private", "public"])),
  ],
  sockets = [${socket('hello', helloPort)}, ${socket('bare', barePort)}],
);
`,
  );
  const helloUrl = `http://127.0.0.1:${helloPort}`;
  const workerd = await startWorkerd(folder, helloUrl);
  return {
    helloUrl,
    bareUrl: `http://127.0.0.1:${barePort}`,
    pid: workerd.pid,
    async stop() {
      await workerd.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
