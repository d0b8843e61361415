/**
 * Finds the key that signed an assertion among the cached keys of its client. If none did, it fetches the JWKS URI again,
 * since the client may have rotated its keys.
 */
import type { AssertionAlgorithm } from '../../../shared/oauth/algorithms.ts';
import { quote } from '../../../shared/quote.ts';
import type { Reason } from '../../refusals.ts';
import type { ClientRow } from '../../store/client.ts';
import type { ClientKeyring, ClientKeys } from '../client-keys.ts';
import { chooseKeys } from './choose-key.ts';
import type { CompactJws } from './compact-jws.ts';
import { signerOf } from './signature.ts';

/** The failed stage. `keys`: no key is usable; `fit`: no key fits `kid` and `alg`; `signature`: no key verifies it. */
export type Signing =
  /** `kid` is undefined for a key without one. */
  | { readonly isSigned: true; readonly kid: string | undefined }
  | { readonly isSigned: false; readonly failed: 'keys' | 'fit' | 'signature'; readonly refusal: Reason };

async function signingWith(
  { text, header }: CompactJws,
  algorithm: AssertionAlgorithm,
  found: ClientKeys,
): Promise<Signing> {
  if ('reason' in found) return { isSigned: false, failed: 'keys', refusal: found };
  const chosen = chooseKeys(header, algorithm, found.jwks.keys);
  if ('reason' in chosen) return { isSigned: false, failed: 'fit', refusal: chosen };
  const { keys } = chosen;
  const signer = await signerOf(text, algorithm, keys);
  if (signer !== undefined) return { isSigned: true, kid: signer.kid };
  const which = keys.length > 1 ? `any of the ${keys.length} keys that fit` : `the key ${quote(keys[0]?.kid)}`;
  const reason = `the signature does not verify with ${which}: was it made with the matching private key?`;
  return { isSigned: false, failed: 'signature', refusal: { code: 'signature', reason } };
}

/** Tries the cached keys, and if they fail and a fetch is allowed, the fetched ones. */
export async function findSigning(
  clientKeys: ClientKeyring,
  client: ClientRow,
  jws: CompactJws,
  algorithm: AssertionAlgorithm,
): Promise<Signing> {
  const known = await signingWith(jws, algorithm, await clientKeys.keysOf(client));
  if (known.isSigned) return known;
  const renewed = await clientKeys.refreshedKeysOf(client);
  if (!('notNow' in renewed)) return signingWith(jws, algorithm, renewed);
  const { refusal } = known;
  return { ...known, refusal: { ...refusal, reason: `${refusal.reason}${renewed.notNow}` } };
}
