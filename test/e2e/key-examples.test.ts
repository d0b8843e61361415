/** The programs that the console shows for an API key, run as they are: what they print is what the gateway answers. */
import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { exportPKCS8, exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { useFolder } from '../stack/tools/use-folder.ts';
import { examplesFor } from '../../edge/admin/keys/examples.ts';
import { readConfig } from '../../edge/config.ts';
import { ASSERTION_ALGORITHM_NAMES } from '../../shared/oauth/algorithms.ts';
import { readJwks } from '../../shared/oauth/jwks.ts';
import { ROOT } from '../stack/services/build.ts';
import { useTestDatabase } from '../stack/tools/database.ts';
import { startGateway, type Gateway } from '../stack/tools/gateway.ts';
import { unusedKeyRow } from '../stack/tools/key-row.ts';
import { ALL_SCOPES, createApiKey, createSite } from '../stack/services/seed.ts';

let gateway: Gateway;
const folder = await useFolder('key-examples');

const db = await useTestDatabase();
const site = await createSite(db.client);
beforeAll(async () => {
  gateway = await startGateway({ runtime: 'deno', database: db });
  // `npm install jose`, which this machine has already.
  await symlink(`${ROOT}node_modules`, join(folder, 'node_modules'));
});
afterAll(() => gateway.stop());

const run = (command: string, args: string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(command, args, { cwd: folder }, (error, stdout, stderr) =>
      resolve(`${stdout}${stderr}${error?.message ?? ''}`),
    );
  });

/** True if the command succeeds on this machine. */
const isThere = (command: string, ...args: string[]): Promise<boolean> =>
  new Promise((resolve) => void execFile(command, args, (error) => resolve(error === null)));

async function examples(alg: string, protocol: 'fhir' | 'hl7') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "it's-1", alg }] };
  await writeFile(join(folder, 'private.pem'), await exportPKCS8(privateKey));
  const { clientId } = await createApiKey(db.client, { site, jwks, protocols: [protocol] });
  const key = unusedKeyRow({ clientId, jwks, protocols: [protocol] }, { allowed_scopes: ALL_SCOPES });
  const config = readConfig({
    ...gateway.secrets.env,
    DATABASE_URL: db.url,
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: gateway.oauthBaseUrl,
    INTEGRATION_FHIR_PUBLIC_BASE_URL: gateway.fhirBaseUrl,
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: gateway.hl7BaseUrl,
  });
  const found = examplesFor(key, readJwks(key.jwks ?? '').keys, config);
  const textOf = (start: string): string => found.find(({ title }) => title.startsWith(start))?.text ?? '';
  return { curl: textOf('curl'), node: textOf('Node'), python: textOf('Python') };
}

// To ask Python is half a second of a core.
const [hasShell, hasPython] = await Promise.all([
  isThere('sh', '-c', 'command -v curl && command -v openssl && command -v xxd'),
  isThere('python3', '-c', 'import jwt, requests, cryptography'),
]);

const EXPECTED = { fhir: /"type": ?"searchset"/, hl7: /MSA\|AA\|1/ } as const;

describe.each(ASSERTION_ALGORITHM_NAMES)('for a key of %s', (alg) => {
  test.each(['fhir', 'hl7'] as const)('the programs work on %s', async (protocol) => {
    const { curl, node, python } = await examples(alg, protocol);
    if (hasShell) {
      await writeFile(join(folder, 'example.sh'), curl);
      expect(await run('sh', ['example.sh'])).toMatch(EXPECTED[protocol]);
    }
    await writeFile(join(folder, 'example.mjs'), node);
    expect(await run(process.execPath, ['example.mjs'])).toMatch(EXPECTED[protocol]);
    if (hasPython) {
      await writeFile(join(folder, 'example.py'), python);
      expect(await run('python3', ['example.py'])).toMatch(EXPECTED[protocol]);
    }
  });
});

test('print why they get no token', async () => {
  const { curl, node, python } = await examples('ES256', 'fhir');
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  await writeFile(join(folder, 'private.pem'), await exportPKCS8(privateKey));
  const WHY = /"error":"invalid_client","error_description":"client authentication failed"/;
  if (hasShell) {
    await writeFile(join(folder, 'example.sh'), curl);
    expect(await run('sh', ['example.sh'])).toMatch(WHY);
  }
  await writeFile(join(folder, 'example.mjs'), node);
  expect(await run(process.execPath, ['example.mjs'])).toMatch(WHY);
  if (hasPython) {
    await writeFile(join(folder, 'example.py'), python);
    expect(await run('python3', ['example.py'])).toMatch(WHY);
  }
});
