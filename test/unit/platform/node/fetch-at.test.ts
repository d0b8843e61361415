/** Fetching at an address that was looked at, on Node and on Deno, with real TLS. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { useFolder } from '../../../stack/tools/use-folder.ts';
import { type KeyHost, startKeyHost } from '../../../stack/services/key-host.ts';
import { DENO_PERMISSIONS } from '../../../../edge/platform/deno-permissions.ts';
import { ROOT } from '../../../stack/services/build.ts';
import { makeAuthority } from '../../../stack/services/certificate.ts';

const NAME = 'keys.gateway-test.example';
const PROGRAM = 'test/unit/platform/node/fetch-at-program.ts';
const RUNTIMES = {
  node: [process.execPath],
  deno: [`${ROOT}node_modules/.bin/deno`, 'run', ...DENO_PERMISSIONS],
} as const;

const authority = makeAuthority();
const folder = await useFolder('fetch-at');
let host: KeyHost;
let asked: (string | undefined)[] = [];

beforeAll(async () => {
  await writeFile(join(folder, 'authority.pem'), authority.certificate);
  host = await startKeyHost(authority.issue([NAME]));
  host.serve('/jwks', (response, { headers }) => {
    asked.push(headers.host);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}');
  });
  host.serve('/moved', (response) => response.writeHead(302, { location: '/jwks' }).end());
});
afterAll(() => host.stop());

describe.each(['node', 'deno'] as const)('on %s', (runtime) => {
  const run = async (path: string, name = NAME, isTrusted = true): Promise<unknown> => {
    const [program, ...args] = RUNTIMES[runtime];
    const pem = join(folder, 'authority.pem');
    const env = { ...process.env, ...(isTrusted ? { NODE_EXTRA_CA_CERTS: pem, DENO_CERT: pem } : {}) };
    const url = `https://${name}:${host.port}${path}`;
    const { stdout } = await promisify(execFile)(program, [...args, PROGRAM, '127.0.0.1', url], { cwd: ROOT, env });
    return JSON.parse(stdout);
  };

  test('connects to the given address, and requests the name', async () => {
    asked = [];
    expect(await run('/jwks')).toEqual({ status: 200, text: '{"keys":[]}' });
    expect(asked).toEqual([`${NAME}:${host.port}`]);
  });

  test('a redirect is not followed', async () => {
    asked = [];
    expect(await run('/moved')).toMatchObject({ status: 302 });
    expect(asked).toEqual([]);
  });

  test('rejects a certificate for another name or of an untrusted authority', async () => {
    asked = [];
    expect(await run('/jwks', 'other.gateway-test.example')).toEqual({ failed: expect.any(String) });
    expect(await run('/jwks', NAME, false)).toEqual({ failed: expect.any(String) });
    expect(asked).toEqual([]);
  });
});
