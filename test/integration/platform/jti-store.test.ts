/** The Durable Object of single use, in workerd, past the gateway: retries, forgetting, and what is on disk. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { useFolder } from '../../stack/tools/use-folder.ts';
import { ROOT } from '../../stack/services/build.ts';
import { until } from '../../stack/services/until.ts';
import { workerSettings } from '../../stack/services/worker-settings.ts';

interface Claims {
  claim(hash: string, expires: number, attempt: string): Promise<boolean>;
}

const folder = await useFolder('jti');
let stop: (() => Promise<void>) | undefined;
let clientNumber = 0;
/** A separate store for each test, as each client has. */
let newClient: () => Claims;

async function start(): Promise<void> {
  const { convertV4MiniflareOptions, Log, LogLevel, Miniflare } = await import('miniflare');
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({
      name: 'claims',
      modules: true,
      scriptPath: join(folder, 'worker.js'),
      modulesRoot: folder,
      compatibilityDate: (await workerSettings(ROOT)).compatibilityDate,
      durableObjects: { JTI_STORE: { className: 'JtiStore', useSQLite: true } },
    }),
    resourcePersistencePath: join(folder, 'data'),
    log: new Log(LogLevel.NONE),
  });
  const namespace = await miniflare.getDurableObjectNamespace('JTI_STORE');
  newClient = () => {
    clientNumber += 1;
    return clientAt(clientNumber);
  };
  clientAt = (number) => namespace.get(namespace.idFromName(`svc-${number}`)) as unknown as Claims;
  stop = () => miniflare.dispose();
}
let clientAt: (number: number) => Claims;

beforeAll(async () => {
  const source = fileURLToPath(new URL('../../../edge/platform/cloudflare/jti-store.ts', import.meta.url));
  await build({
    stdin: {
      contents: `export { JtiStore } from ${JSON.stringify(source)}; export default { fetch: () => new Response() };`,
      resolveDir: folder,
    },
    bundle: true,
    format: 'esm',
    external: ['cloudflare:workers'],
    outfile: join(folder, 'worker.js'),
  });
  await start();
});
afterAll(() => stop?.());

const inMinutes = (minutes: number) => Math.floor(Date.now() / 1000) + minutes * 60;

test('a claim succeeds for one attempt only, also when it is repeated', async () => {
  const client = newClient();
  expect(await client.claim('x', inMinutes(5), 'one')).toBe(true);
  expect(await client.claim('x', inMinutes(5), 'one')).toBe(true);
  expect(await client.claim('x', inMinutes(5), 'two')).toBe(false);
  expect(await client.claim('y', inMinutes(5), 'two')).toBe(true);
  expect(await newClient().claim('x', inMinutes(5), 'two')).toBe(true);
});

test('among 200 concurrent attempts one is first', async () => {
  const client = newClient();
  const claims = await Promise.all(Array.from({ length: 200 }, (_, i) => client.claim('x', inMinutes(5), String(i))));
  expect(claims.filter((first) => first)).toHaveLength(1);
});

test('the alarm deletes expired claims, and nothing else', async () => {
  const client = newClient();
  await client.claim('kept', inMinutes(5), 'one');
  const other = newClient();
  // Both claims exist when the alarm runs.
  await other.claim('old', inMinutes(0) + 2, 'one');
  await other.claim('beside it', inMinutes(5), 'one');
  await until('the alarm', async () => other.claim('old', inMinutes(5), 'two'));
  expect(await other.claim('old', inMinutes(5), 'three')).toBe(false);
  expect(await client.claim('kept', inMinutes(5), 'two')).toBe(false);
  expect(await other.claim('beside it', inMinutes(5), 'two')).toBe(false);
});

test('claims outlive the process', async () => {
  await newClient().claim('x', inMinutes(5), 'one');
  await stop?.();
  await start();
  const client = clientAt(clientNumber);
  expect(await client.claim('x', inMinutes(5), 'two')).toBe(false);
  expect(await client.claim('x', inMinutes(5), 'one')).toBe(true);
});
