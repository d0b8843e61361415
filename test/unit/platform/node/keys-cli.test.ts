import { spawnSync } from 'node:child_process';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { createLocalJWKSet, importPKCS8, type JSONWebKeySet, jwtVerify, SignJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';

import { useFolder } from '../../../stack/tools/use-folder.ts';
import { readConfig } from '../../../../edge/config.ts';
import { signingRing } from '../../../../edge/config.ts';
import { readSidecarConfig } from '../../../../sidecar/config.ts';
import { readJwks } from '../../../../shared/oauth/jwks.ts';

const SCRIPT = fileURLToPath(new URL('../../../../edge/platform/node/keys-cli.ts', import.meta.url));

function run(command: string, input = '', env: Record<string, string> = {}) {
  const { TOKEN_SIGNING_KEYS: _, ...rest } = process.env;
  const result = spawnSync(process.execPath, [SCRIPT, command], { input, encoding: 'utf8', env: { ...rest, ...env } });
  return { status: result.status, out: result.stdout, next: result.stderr };
}
const kids = (text: string) => signingRing.parse(JSON.parse(text)).keys.map(({ kid }) => kid);

describe('npm run keys', () => {
  test('makes a ring, rotates it, and prints the next step', () => {
    const made = run('new');
    const [first = ''] = kids(made.out);
    expect([kids(made.out).length, first]).toEqual([
      1,
      expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z-[0-9a-f]{8}$/),
    ]);

    const published = run('publish', made.out);
    const [, second = ''] = kids(published.out);
    expect(kids(published.out)).toEqual([first, second]);
    expect(published.next).toContain('then: sign');

    const signing = run('sign', published.out);
    expect(kids(signing.out)).toEqual([second, first]);
    expect(signing.next).toContain(`${second} (signs), ${first}`);
    expect(signing.next).toContain('then: retire');

    expect(kids(run('retire', '', { TOKEN_SIGNING_KEYS: signing.out }).out)).toEqual([second]);
  });

  test('signing with the only key changes nothing and prints the reason', () => {
    const made = run('new').out;
    const { out, next } = run('sign', made);
    expect([out, next]).toEqual([made, expect.stringContaining('publish a new one first')]);
  });

  test('a step that is repeated or left out never retires the newest key', () => {
    const published = run('publish', run('new').out).out;
    const [old = '', added = ''] = kids(published);
    const early = run('retire', published);
    expect([kids(early.out), early.next]).toEqual([[old, added], expect.stringContaining('sign first')]);
    const signing = run('sign', published).out;
    const again = run('sign', signing);
    expect([kids(again.out), again.next]).toEqual([[added, old], expect.stringContaining('signs already')]);
    expect(kids(run('retire', signing).out)).toEqual([added]);
  });

  test('rotates the ring in an environment file, which keeps its other lines, its mode and a link to it', async () => {
    const folder = await useFolder('keys-cli', onTestFinished);
    const make = (...args: readonly string[]) =>
      spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8', env: { PATH: '', INIT_CWD: folder } });
    expect(make('box', '.').status).toBe(0);
    await symlink('gateway.env', `${folder}/link.env`);
    const read = () => readFile(`${folder}/gateway.env`, 'utf8');
    const lineOf = (text: string) => /^TOKEN_SIGNING_KEYS='(.*)'$/m.exec(text)?.[1] ?? '';
    const before = await read();
    const [first = ''] = kids(lineOf(before));
    expect(make('publish', 'link.env')).toMatchObject({ status: 0, stderr: expect.stringContaining('then: sign') });
    const [, second = ''] = kids(lineOf(await read()));
    expect(make('sign', 'gateway.env').stderr).toContain(`${second} (signs), ${first}`);
    expect(make('retire', 'gateway.env').status).toBe(0);
    const after = await read();
    expect([kids(lineOf(after)), after.replace(lineOf(after), '')]).toEqual([
      [second],
      before.replace(lineOf(before), ''),
    ]);
    expect((await stat(`${folder}/gateway.env`)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).toSorted()).toEqual(['gateway.env', 'link.env']);
    await writeFile(`${folder}/other.env`, 'PORT=1\n');
    expect(make('sign', 'other.env')).toMatchObject({ status: 1, stderr: expect.stringContaining('has no line') });
  });

  test('rejects an input that is not a ring, without showing it', () => {
    const { status, out, next } = run('publish', '{"keys":[{"d":"secret"}]}');
    expect([status, out, next]).toEqual([1, '', expect.not.stringContaining('"secret"')]);
    expect(run('other')).toMatchObject({ status: 1, out: '' });
  });

  test.each([
    [['client', '--out', 'lab'], "Unknown option '--out'"],
    [['client', 'lab', 'ward'], 'client does not have the argument ward'],
    [['new', 'ring.json'], 'new does not have the argument ring.json'],
    [['sidecar', '--ranges', '10.1.0.7', '--ranges', '10.1.0.8'], '--ranges is given more than once'],
  ])('%j is rejected, and makes nothing', async (args, said) => {
    const folder = await useFolder('keys-cli', onTestFinished);
    const env = { PATH: '', INIT_CWD: folder };
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8', env });
    expect([status, stdout, stderr]).toEqual([1, '', expect.stringContaining(said)]);
    expect(await readdir(folder)).toEqual([]);
  });
});

test('a sidecar gets a key pair and the gateway a secret, fit for their configuration', () => {
  const lines = run('sidecar').out.trim().split('\n');
  const env = Object.fromEntries(lines.map((line) => /^(\w+)='(.*)'$/.exec(line)?.slice(1) ?? []));
  const pair = readSidecarConfig({ ...env, EDGE_URL: 'https://edge.example' });
  const config = readConfig({
    ...env,
    DATABASE_URL: 'postgres://u:p@host/db',
    TOKEN_SIGNING_KEYS: run('new').out,
    GATEWAY_SECRET: run('secret').out.trim(),
  });
  const [published] = config.MLLP_SIDECAR_KEYS?.keys ?? [];
  expect(published).toMatchObject({ kid: pair.privateKey.kid, x: pair.privateKey.x });
  expect(published).not.toHaveProperty('d');
});

test('a client’s key pair: a private PEM that only its owner can read, a public JWKS, and no existing file overwritten', async () => {
  const folder = await useFolder('keys-cli', onTestFinished);
  const make = () =>
    spawnSync(process.execPath, [SCRIPT, 'client', 'lab'], {
      encoding: 'utf8',
      env: { ...process.env, INIT_CWD: folder },
    });
  const made = make();
  expect([made.status, made.stdout]).toEqual([0, `${folder}/lab/private.pem\n${folder}/lab/jwks.json\n`]);
  const privatePem = await readFile(`${folder}/lab/private.pem`, 'utf8');
  expect((await stat(`${folder}/lab/private.pem`)).mode & 0o777).toBe(0o600);
  const jwks = JSON.parse(await readFile(`${folder}/lab/jwks.json`, 'utf8')) as JSONWebKeySet;
  expect(readJwks(JSON.stringify(jwks)).keys).toHaveLength(1);
  expect(JSON.stringify(jwks)).not.toContain('"d"');
  const jwt = await new SignJWT({}).setProtectedHeader({ alg: 'ES256' }).sign(await importPKCS8(privatePem, 'ES256'));
  await jwtVerify(jwt, createLocalJWKSet(jwks));

  const again = make();
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('private.pem already exists')]);
  expect(await readFile(`${folder}/lab/private.pem`, 'utf8')).toBe(privatePem);
});

describe('keys -- sidecar', () => {
  const SITES = ['019b7ca9-8c88-7000-8000-000000000003', '019b7ca9-8c88-7000-8000-000000000004'];
  const make = (...args: readonly string[]) =>
    spawnSync(process.execPath, [SCRIPT, 'sidecar', ...args], { encoding: 'utf8' });
  /** The limits of the key, as the gateway reads them. */
  const limitsOf = (output: string) => {
    const [, keys = ''] = /^MLLP_SIDECAR_KEYS='(.*)'$/m.exec(output) ?? [];
    const [key] = (JSON.parse(keys) as { readonly keys: readonly Record<string, unknown>[] }).keys;
    return { ranges: key?.['ranges'], sites: key?.['sites'] };
  };

  test.each([
    [[], { ranges: undefined, sites: undefined }],
    [['--ranges', '10.1.0.7'], { ranges: ['10.1.0.7'], sites: undefined }],
    [['--ranges', '10.1.0.0/16,2001:db8::/32'], { ranges: ['10.1.0.0/16', '2001:db8::/32'], sites: undefined }],
    [['--sites', SITES.join(',')], { ranges: undefined, sites: SITES }],
    [['--ranges=10.1.0.0/16', `--sites=${SITES[0]}`], { ranges: ['10.1.0.0/16'], sites: [SITES[0]] }],
  ])('%j', (args, limits) => expect(limitsOf(make(...args).stdout)).toEqual(limits));

  test.each([
    [['--ranges', '10.1.0.0/33'], '--ranges: must be IP addresses'],
    [['--ranges', ''], '--ranges: must be IP addresses'],
    [['--sites', 'north'], '--sites: '],
    [['--range', '10.1.0.0/16'], "Unknown option '--range'"],
  ])('%j is rejected', (args, reason) => {
    const { status, stdout, stderr } = make(...args);
    expect([status, stdout, stderr]).toEqual([1, '', expect.stringContaining(reason)]);
  });
});

test('makes all secrets of a deployment: the gateway accepts the uploaded ones, and the sidecar has the private key', async () => {
  const folder = await useFolder('keys-cli', onTestFinished);
  const make = (env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [SCRIPT, 'deployment', 'production'], {
      encoding: 'utf8',
      env: { ...process.env, INIT_CWD: folder, ...env },
    });
  const made = make({ DATABASE_URL: 'postgres://gateway_edge:a$b#c@db.example/gateway' });
  expect(made.status).toBe(0);
  expect(made.stderr).toContain('the environment has none: ADMIN_OIDC_CLIENT_SECRET');
  expect(made.stderr).toContain('npx wrangler deploy --secrets-file production/edge.json');

  const secrets = JSON.parse(await readFile(`${folder}/production/edge.json`, 'utf8')) as Record<string, unknown>;
  expect(Object.values(secrets).every((value) => typeof value === 'string')).toBe(true);
  const config = readConfig(secrets);
  const [line = ''] = (await readFile(`${folder}/production/sidecar.env`, 'utf8')).split('\n');
  const [, ownKey] = /^SIDECAR_PRIVATE_KEY=(.*)$/.exec(line) ?? [];
  const sidecar = readSidecarConfig({ EDGE_URL: 'https://edge.example', SIDECAR_PRIVATE_KEY: ownKey });
  expect(config.MLLP_SIDECAR_KEYS?.keys[0]?.kid).toBe(sidecar.privateKey.kid);
  expect(await readFile(`${folder}/production/.gitignore`, 'utf8')).toBe('*\n');
  for (const name of ['edge.json', 'sidecar.env']) {
    expect((await stat(`${folder}/production/${name}`)).mode & 0o777).toBe(0o600);
  }

  const again = make({});
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('edge.json already exists')]);
  expect(JSON.parse(await readFile(`${folder}/production/edge.json`, 'utf8'))).toEqual(secrets);
});
