/**
 * Chooses the keys of a client's JWKS that may verify an assertion: those for its `alg`, and with a `kid` only that key
 * (RFC 7515 §4.1.4). Without a `kid`, every key for the `alg` may be tried.
 */
import type { JsonObject } from '../../../shared/json.ts';
import { type AssertionAlgorithm, isNamed, keyTypeFor } from '../../../shared/oauth/algorithms.ts';
import type { CheckedKey } from '../../../shared/oauth/jwks.ts';
import { quote, quoteAll } from '../../../shared/quote.ts';
import type { Reason } from '../../refusals.ts';

export type ChosenKeys = { readonly keys: readonly CheckedKey[] } | Reason;

/** The reason why the key cannot verify this algorithm, or undefined. */
function misfit(key: CheckedKey, algorithm: AssertionAlgorithm): string | undefined {
  const needed = keyTypeFor(algorithm);
  if (key.type !== needed) return `is of type ${key.type}, ${algorithm} needs ${needed}`;
  if (key.reason !== undefined) return `cannot be used: ${key.reason}`;
  const own = key.jwk['alg'];
  if (own === undefined || isNamed(algorithm, own)) return undefined;
  return `is for alg ${quote(own)}, the assertion has ${algorithm}`;
}

/** `header.alg` is already checked; `header.kid` is a string or absent. */
export function chooseKeys(header: JsonObject, algorithm: AssertionAlgorithm, keys: readonly CheckedKey[]): ChosenKeys {
  const { kid } = header;
  const named = typeof kid === 'string' ? keys.filter((key) => key.kid === kid) : keys;
  if (typeof kid === 'string' && named.length === 0) {
    const known = keys.flatMap((key) => key.kid ?? []);
    const has = known.length === 0 ? 'which has only keys without a kid' : `which has ${quoteAll(known)}`;
    return { code: 'kid', reason: `kid ${quote(kid)} is not in the JWKS, ${has}` };
  }
  const fitting = named.filter((key) => misfit(key, algorithm) === undefined);
  if (typeof kid === 'string' && fitting.length > 1) {
    return { code: 'kid', reason: `kid ${quote(kid)} occurs ${fitting.length} times in the JWKS with the same type` };
  }
  if (fitting.length > 0) return { keys: fitting };
  const [first] = named;
  if (typeof kid === 'string' && first !== undefined) {
    return { code: 'jwks', reason: `kid ${quote(kid)} ${misfit(first, algorithm)}` };
  }
  const why = named.map((key) => `${key.kid === undefined ? 'a key' : quote(key.kid)} ${misfit(key, algorithm)}`);
  return {
    code: 'jwks',
    reason: `no key in the JWKS fits ${algorithm}: ${why.slice(0, 5).join('; ') || 'it is empty'}`,
  };
}
