/** Configuration and `Deps` for unit tests: what a test does not give fails when it is used. */
import { type Config, readConfig } from '../../../edge/config.ts';
import { gzip } from '../../../edge/platform/gzip.ts';
import { createMemory } from '../../../edge/http/memory.ts';
import type { Deps } from '../../../edge/deps.ts';

export interface TestDeps extends Partial<Omit<Deps, 'config'>> {
  /** By default a key that no test signs with. */
  readonly signingKeys?: readonly object[];
  readonly allow?: (bucket: string, key: string) => boolean;
  readonly env?: Readonly<Record<string, string>>;
}

const unexpected = (what: string) => () => {
  throw new Error(`the test does not expect ${what}`);
};

const UNUSED_KEY = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'd', kid: 'k' };

/** The required variables of a deployment, and these. */
export const configOf = (
  env: Readonly<Record<string, string>>,
  signingKeys: readonly object[] = [UNUSED_KEY],
): Config =>
  readConfig({
    DATABASE_URL: 'postgres://nobody@nowhere/none',
    TOKEN_SIGNING_KEYS: JSON.stringify({ keys: signingKeys }),
    GATEWAY_SECRET: 'a'.repeat(43),
    ...env,
  });

export function testDeps({ signingKeys, allow, env, ...given }: TestDeps = {}): Deps {
  const addresses = {
    INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://oauth.test/base',
    INTEGRATION_FHIR_PUBLIC_BASE_URL: 'https://fhir.test',
  };
  return {
    config: configOf({ ...addresses, ...env }, signingKeys),
    database: { run: unexpected('a query'), batch: unexpected('a batch') },
    measured: async (work) => ({ result: await work(), database: { requests: 0, ms: 0 } }),
    share: createMemory(Infinity, Date.now),
    jtiStore: { claim: unexpected('a claim') },
    rateLimiter: { allow: async (bucket, key) => allow?.(bucket, key) ?? true },
    now: unexpected('the time'),
    background: unexpected('background work'),
    log: () => undefined,
    fetch: unexpected('a fetch'),
    resolveHost: unexpected('a look-up'),
    asset: unexpected('an asset'),
    gzip,
    acceptEncoding: ({ headers }) => headers.get('accept-encoding'),
    sourceAddress: () => '192.0.2.1',
    ...given,
  };
}
