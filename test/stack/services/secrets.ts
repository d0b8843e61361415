/** New keys and secrets for a local or test deployment: the repository contains no secret. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

import { makeKeyPair } from './key-pair.ts';
import type { JWK } from 'jose';

export interface Secrets {
  readonly env: {
    readonly TOKEN_SIGNING_KEYS: string;
    readonly GATEWAY_SECRET: string;
    readonly MLLP_SIDECAR_KEYS: string;
    readonly METRICS_TOKEN: string;
  };
  /** The sidecar's own private key, whose public half is in MLLP_SIDECAR_KEYS. */
  readonly sidecarPrivateKey: JWK;
}

const es256 = (kid: string) => makeKeyPair({ kid, use: 'sig' });

export async function makeSecrets(): Promise<Secrets> {
  const signing = await es256(`token-${randomBytes(4).toString('hex')}`);
  const sidecar = await es256(`sidecar-${randomBytes(4).toString('hex')}`);
  return {
    env: {
      TOKEN_SIGNING_KEYS: JSON.stringify({ keys: [signing.privateJwk] }),
      GATEWAY_SECRET: randomBytes(32).toString('base64url'),
      METRICS_TOKEN: randomBytes(32).toString('base64url'),
      MLLP_SIDECAR_KEYS: JSON.stringify({ keys: [sidecar.publicJwk] }),
    },
    sidecarPrivateKey: sidecar.privateJwk,
  };
}

/** The same secrets at every start of the local stack, so that tokens and cursors outlive a restart. */
export async function localSecrets(file: string): Promise<Secrets> {
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept) as Secrets;
  const secrets = await makeSecrets();
  await writeFile(file, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  return secrets;
}
