/**
 * What people have of a client's public key as the JWKS that is kept: a JWKS, a bare JWK, PEM or a certificate. Whether the
 * keys may be trusted is asked of the JWKS (rules.ts).
 */
import { calculateJwkThumbprint } from 'jose';

import { isJsonObject, jsonIn, type JsonObject, printJson } from '../../../shared/json.ts';
import { checkJwks, publicMembersOf } from '../../../shared/oauth/jwks.ts';
import { isPem, readPem } from './pem.ts';

export type ReadPublicKeys = { readonly jwks: string } | { readonly problem: string };

/** Its RFC 7638 thumbprint, where a key that can be used has no `kid`: whoever signs without one is understood too. */
async function named(jwk: JsonObject): Promise<JsonObject> {
  if (jwk['kid'] !== undefined || checkJwks({ keys: [jwk] }).problems.length > 0) return jwk;
  return { ...jwk, kid: await calculateJwkThumbprint(publicMembersOf(jwk)) };
}

const jwksOf = async (keys: readonly JsonObject[]): Promise<ReadPublicKeys> => ({
  jwks: printJson({ keys: await Promise.all(keys.map(named)) }),
});

/** What begins otherwise than every format that is taken, and what to do. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:ssh-|ecdsa-sha2-|sk-)\S+ /,
    'it is a key of SSH: ssh-keygen -e -m PKCS8 -f it prints it as a public key in PEM',
  ],
  [/^https?:\/\//i, 'it is an address: put it into the JWKS URI'],
  // A DER file that was opened as text, whose first bytes are 0x30 0x82, and the same in base64.
  [/^0[\u0080-\uffff]/, 'it is binary (DER): openssl x509 or openssl pkey, with -inform DER, prints it as PEM'],
  [
    /^[A-Za-z0-9+/=_\s-]{64,}$/,
    'it has no BEGIN and END: paste the whole of the PEM, or print a file in DER as PEM (openssl pkey -inform DER)',
  ],
];

/** @param text not empty */
export async function readPublicKeys(text: string): Promise<ReadPublicKeys> {
  if (isPem(text)) {
    const read = readPem(text);
    return 'problem' in read ? read : jwksOf(read.jwks.map((jwk) => ({ ...jwk, use: 'sig' })));
  }
  const json = jsonIn(text);
  if (isJsonObject(json) && json['keys'] === undefined && json['kty'] !== undefined) return jwksOf([json]);
  if (json !== undefined) return { jwks: printJson(json) };
  const problem = OTHERS.find(([pattern]) => pattern.test(text))?.[1];
  // What is none of these is refused as a JWKS, with the place at which it is no JSON.
  return problem === undefined ? { jwks: text } : { problem };
}
