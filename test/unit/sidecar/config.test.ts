/** The sidecar's environment: defaults, every problem at once, and never a value in a problem. */
import { describe, expect, test } from 'vitest';

import { ConfigError } from '../../../shared/environment.ts';
import { readSidecarConfig } from '../../../sidecar/config.ts';
import { makeSecrets } from '../../stack/services/secrets.ts';

const { sidecarPrivateKey } = await makeSecrets();
const NEEDED = { EDGE_URL: 'https://edge.example', SIDECAR_PRIVATE_KEY: JSON.stringify(sidecarPrivateKey) };

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readSidecarConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test('two names are needed; the rest has the defaults of the documentation', () => {
  expect(readSidecarConfig({ ...NEEDED, EDGE_URL: 'https://edge.example/gateway//' })).toMatchObject({
    host: undefined,
    port: 2575,
    edgeUrl: 'https://edge.example/gateway',
    name: 'mllp-sidecar',
    healthHost: '127.0.0.1',
    healthPort: 9575,
    logLevel: 'info',
    tls: undefined,
    proxyProtocolFrom: [],
    maxConnections: 4096,
    maxConnectionsPerAddress: 512,
    maxFrameBytes: 10_485_760,
    idleTimeoutMs: 1_800_000,
    frameTimeoutMs: 60_000,
    retryMs: 30_000,
    shutdownGraceMs: 25_000,
  });
});

test('every problem is listed at once', () => {
  expect(problemsOf({ MLLP_PORT: '70000', MLLP_TLS_CERT_FILE: '/cert', MLLP_FRAME_TIMEOUT_SECONDS: '0' })).toEqual([
    expect.stringMatching(/^MLLP_PORT /),
    'EDGE_URL is missing',
    'SIDECAR_PRIVATE_KEY is missing',
    expect.stringMatching(/^MLLP_FRAME_TIMEOUT_SECONDS /),
    'MLLP_TLS_KEY_FILE is missing: MLLP_TLS_CERT_FILE needs it',
  ]);
});

test('client certificates cannot be required without a CA', () => {
  const noCa = 'MLLP_TLS_CLIENT_CA_FILE is missing: MLLP_TLS_CLIENT_AUTH needs it';
  expect(problemsOf({ ...NEEDED, MLLP_TLS_CLIENT_AUTH: 'require' })).toEqual([noCa]);
  expect(problemsOf({ ...NEEDED, MLLP_TLS_CLIENT_AUTH: 'maybe' })).toEqual([
    expect.stringMatching(/^MLLP_TLS_CLIENT_AUTH /),
    noCa,
  ]);
});

describe('a single problem', () => {
  test.each([
    ['EDGE_URL', 'edge.example'],
    ['EDGE_URL', 'ftp://edge.example'],
    ['EDGE_URL', 'https://edge.example/?a=b'],
    ['SIDECAR_PRIVATE_KEY', 'not-json-secret'],
    ['SIDECAR_PRIVATE_KEY', JSON.stringify({ ...sidecarPrivateKey, d: undefined })],
    ['SIDECAR_PRIVATE_KEY', JSON.stringify({ ...sidecarPrivateKey, kid: '' })],
    ['SIDECAR_PRIVATE_KEY', JSON.stringify({ ...sidecarPrivateKey, crv: 'P-384' })],
    ['MLLP_PORT', '2575x'],
    ['MLLP_PROXY_PROTOCOL_FROM', '10.0.0.0/8,10.0.0.999'],
    ['MLLP_MAX_CONNECTIONS', '-1'],
    ['MLLP_MAX_FRAME_BYTES', '1.5'],
    ['LOG_LEVEL', 'chatty'],
    ['FORWARD_RETRY_SECONDS', 'soon'],
  ])('%s = %s', (name, value) => {
    const problems = problemsOf({ ...NEEDED, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} `));
    expect(problems.join()).not.toContain('secret');
    expect(problems.join()).not.toContain(sidecarPrivateKey.d ?? '-');
  });
});

test('an empty value counts as absent', () => {
  expect(readSidecarConfig({ ...NEEDED, MLLP_HOST: '', MLLP_PORT: ' ', MLLP_TLS_KEY_FILE: '' })).toMatchObject({
    host: undefined,
    port: 2575,
    tls: undefined,
  });
});

test('reports an unknown variable with a prefix of the sidecar, but not the key of the edge', () => {
  const misspelt = { MLLP_MAX_CONNECTION: '5', FORWARD_RETRY: '1', SIDECAR_NMAE: 'x' };
  expect(readSidecarConfig({ ...NEEDED, ...misspelt, MLLP_SIDECAR_KEYS: '{}', PATH: '/bin' }).misspelt).toEqual([
    'MLLP_MAX_CONNECTION is not a setting: did you mean MLLP_MAX_CONNECTIONS?',
    'SIDECAR_NMAE is not a setting: did you mean SIDECAR_NAME?',
    'FORWARD_RETRY is not a setting',
  ]);
});

test('a key in the quotes that `docker run --env-file` leaves around it', () => {
  const { privateKey } = readSidecarConfig({ ...NEEDED, SIDECAR_PRIVATE_KEY: `'${NEEDED.SIDECAR_PRIVATE_KEY}'` });
  expect(privateKey.kid).toBe(sidecarPrivateKey.kid);
});
