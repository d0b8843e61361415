/**
 * Converts pasted public keys to the stored JWKS. The text may be a JWKS, a JWK, PEM or a certificate. rules.ts checks the
 * keys.
 */
import { calculateJwkThumbprint } from 'jose';

import { isJsonObject, jsonIn, type JsonObject, printJson } from '../../../shared/json.ts';
import { checkJwks, publicMembersOf } from '../../../shared/oauth/jwks.ts';
import { isPem, readPem } from './pem.ts';

export type ReadPublicKeys = { readonly jwks: string } | { readonly problem: string };

/** Gives a usable key without `kid` its RFC 7638 thumbprint; assertions without `kid` still match it. */
async function withKid(jwk: JsonObject): Promise<JsonObject> {
  if (jwk['kid'] !== undefined || checkJwks({ keys: [jwk] }).problems.length > 0) return jwk;
  return { ...jwk, kid: await calculateJwkThumbprint(publicMembersOf(jwk)) };
}

const jwksOf = async (keys: readonly JsonObject[]): Promise<ReadPublicKeys> => ({
  jwks: printJson({ keys: await Promise.all(keys.map(withKid)) }),
});

/** Formats that are not accepted, by their first characters, and what to do. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:ssh-|ecdsa-sha2-|sk-)\S+ /, 'is an SSH key: convert it with ssh-keygen -e -m PKCS8 -f FILE'],
  [/^https?:\/\//i, 'is an address: put it into the JWKS URI'],
  // A DER file begins with 0x30 0x82; opened as text, and in base64.
  [/^0[\u0080-\uffff]/, 'is binary (DER): convert it with openssl x509 or openssl pkey -inform DER'],
  [
    /^[A-Za-z0-9+/=_\s-]{64,}$/,
    'has no BEGIN and END: paste the complete PEM, or convert a DER file with openssl pkey -inform DER',
  ],
];

/** Converts a text to a JWKS. @param text not empty */
export async function readPublicKeys(text: string): Promise<ReadPublicKeys> {
  if (isPem(text)) {
    const read = readPem(text);
    return 'problem' in read ? read : jwksOf(read.jwks.map((jwk) => ({ ...jwk, use: 'sig' })));
  }
  const json = jsonIn(text);
  if (isJsonObject(json) && json['keys'] === undefined && json['kty'] !== undefined) return jwksOf([json]);
  if (json !== undefined) return { jwks: printJson(json) };
  const problem = OTHERS.find(([pattern]) => pattern.test(text))?.[1];
  // Any other text is rejected as a JWKS, with the position of the JSON error.
  return problem === undefined ? { jwks: text } : { problem };
}
