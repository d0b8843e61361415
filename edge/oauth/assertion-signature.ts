/**
 * Whether an assertion is signed by its client: with the keys as far as known, and once more with what the client's JWKS
 * URI holds now, since it may have changed its keys since we looked.
 */
import type { AssertionAlgorithm } from '../../shared/oauth/algorithms.ts';
import { chooseKeys } from '../../shared/oauth/choose-key.ts';
import type { CompactJws } from '../../shared/oauth/compact-jws.ts';
import type { Reason } from '../../shared/oauth/reason.ts';
import { quote } from '../../shared/quote.ts';
import type { ClientRow } from '../store/client.ts';
import type { ClientKeyring, ClientKeys } from './client-keys.ts';
import { isSignedByOne } from './signature.ts';

async function checkWith(
  { text, header }: CompactJws,
  algorithm: AssertionAlgorithm,
  found: ClientKeys,
): Promise<Reason | undefined> {
  if ('reason' in found) return { code: 'jwks', reason: found.reason };
  const chosen = chooseKeys(header, algorithm, found.jwks.keys);
  if ('reason' in chosen) return chosen;
  const { keys } = chosen;
  const jwks = keys.map(({ jwk }) => jwk);
  if (await isSignedByOne(text, algorithm, jwks)) return undefined;
  const which = keys.length > 1 ? `any of the ${keys.length} keys that fit` : `the key ${quote(keys[0]?.kid)}`;
  const hint = 'was it made with the matching private key?';
  return { code: 'signature', reason: `the signature does not verify with ${which}: ${hint}` };
}

/** @returns why it is not, or undefined when one of the client's keys has signed it */
export async function checkSignature(
  clientKeys: ClientKeyring,
  client: ClientRow,
  jws: CompactJws,
  algorithm: AssertionAlgorithm,
): Promise<Reason | undefined> {
  const known = await checkWith(jws, algorithm, await clientKeys.keysOf(client));
  if (known === undefined) return undefined;
  const renewed = await clientKeys.refreshedKeysOf(client);
  if ('notNow' in renewed) return { ...known, reason: `${known.reason}${renewed.notNow}` };
  return checkWith(jws, algorithm, renewed);
}
