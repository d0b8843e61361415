/** The sidecar for an operator: its errors when it cannot start, and the one file that is deployed. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { expect, onTestFinished, test } from 'vitest';

import { useFolder } from '../stack/tools/use-folder.ts';
import { ROOT } from '../stack/services/build.ts';
import { message, startEdgeDouble } from '../stack/tools/edge-double.ts';
import { connectPeer, msaOf } from '../stack/tools/mllp-peer.ts';
import { makeSecrets } from '../stack/services/secrets.ts';
import { until } from '../stack/services/until.ts';

const run = promisify(execFile);
const PROGRAM = `${ROOT}sidecar/main.ts`;

interface Ended {
  readonly code: number;
  readonly stdout: string;
}

/** Runs it with this environment and nothing else, until it ends by itself. */
const ends = (env: Record<string, string>): Promise<Ended> =>
  run(process.execPath, [PROGRAM], { env, timeout: 20_000 }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: Ended) => error,
  );

test('a wrong environment: every problem in one line, none of the values, and 1', async () => {
  const secret = 'not-to-be-repeated';
  const { code, stdout } = await ends({ MLLP_PORT: '99999', SIDECAR_PRIVATE_KEY: secret });
  expect(code).toBe(1);
  expect(stdout.trim().split('\n')).toHaveLength(1);
  const line = JSON.parse(stdout) as { event: string; problems: string[] };
  expect(line.event).toBe('mllp.configuration');
  expect(line.problems.map((problem) => problem.split(' ')[0])).toEqual([
    'MLLP_PORT',
    'EDGE_URL',
    'SIDECAR_PRIVATE_KEY',
  ]);
  expect(stdout).not.toContain(secret);
});

test.each(['MLLP_PORT', 'HEALTH_PORT'])('%s in use: the sidecar reports the port and ends with 1', async (name) => {
  const { sidecarPrivateKey } = await makeSecrets();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const { code, stdout } = await ends({
    EDGE_URL: 'http://127.0.0.1:1',
    SIDECAR_PRIVATE_KEY: JSON.stringify(sidecarPrivateKey),
    MLLP_HOST: '127.0.0.1',
    MLLP_PORT: '0',
    HEALTH_PORT: '0',
    [name]: String((other.address() as AddressInfo).port),
  });
  expect(code).toBe(1);
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    level: 'fatal',
    event: 'mllp.start-failed',
    code: 'EADDRINUSE',
  });
});

test('built into one file, it runs without other files, and SIGTERM ends it with 0', async () => {
  await run(process.execPath, [`${ROOT}sidecar/build.ts`]);
  const folder = await useFolder('sidecar-program', onTestFinished);
  await copyFile(`${ROOT}dist/mllp-sidecar.mjs`, join(folder, 'mllp-sidecar.mjs'));
  const secrets = await makeSecrets();
  const edge = await startEdgeDouble(secrets);
  onTestFinished(() => edge.close());

  const child = spawn(process.execPath, ['mllp-sidecar.mjs'], {
    cwd: folder,
    env: {
      EDGE_URL: edge.url,
      SIDECAR_PRIVATE_KEY: JSON.stringify(secrets.sidecarPrivateKey),
      MLLP_PORT: '0',
      HEALTH_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  const lines: { event: string; port?: number }[] = [];
  createInterface(child.stdout).on('line', (each) => lines.push(JSON.parse(each) as (typeof lines)[number]));
  await until('it listens', () => lines.some(({ event }) => event === 'mllp.listening'));
  const port = lines.find(({ event }) => event === 'mllp.listening')?.port ?? 0;
  const peer = await connectPeer({ port });
  expect(msaOf(await peer.exchange(message('B1')))).toEqual({ code: 'AA', controlId: 'B1' });
  // The default host is every interface of both families; the token has the address in its plain spelling.
  expect(edge.received[0]?.claims.src).toBe('127.0.0.1');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  // It listens on all interfaces, in plain text.
  const events = lines.map(({ event }) => event);
  expect(events).toContain('mllp.not-encrypted');
  expect(events.slice(-2)).toEqual(['mllp.stopping', 'mllp.stopped']);
  expect(await peer.closed).toBe('');
});
