/**
 * Converts public keys from DER to JWKs. Reads SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) with RSA, EC and Ed25519 keys
 * (RFC 3279 §2.3.1, RFC 5480 §2, RFC 8410 §4). Also reads RSAPublicKey (RFC 8017 §A.1.1) and the key of a certificate.
 * shared/oauth/jwks.ts checks whether a key is acceptable.
 *
 * jose's importSPKI and importX509 do not replace this: they need the algorithm in advance, name no issuer and reject a key without the
 * reason. The runtimes also differ: Node rejects a point that is not on the curve, Deno imports it.
 */
import { encodeBase64url } from '../../../shared/base64url.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { USABLE_KEYS } from '../../../shared/oauth/jwks.ts';
import { type DerElement, elementsOf, sequenceOf, TAG } from './der.ts';

export type ReadKey = { readonly jwk: JsonObject } | { readonly problem: string };

/** Object identifiers as the hex of their octets. */
const RSA = '2a864886f70d010101';
const RSA_PSS = '2a864886f70d01010a';
const EC = '2a8648ce3d0201';
const ED25519 = '2b6570';
const CURVES: Readonly<Record<string, { readonly crv: string; readonly bytes: number }>> = {
  '2a8648ce3d030107': { crv: 'P-256', bytes: 32 },
  '2b81040022': { crv: 'P-384', bytes: 48 },
};

const problem = (text: string): ReadKey => ({ problem: text });
const BROKEN = problem('is damaged: the text between BEGIN and END is not a key of this type');

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** A positive INTEGER without its leading zero octet. */
const digits = ({ content }: DerElement): string =>
  encodeBase64url(content[0] === 0 && content.length > 1 ? content.subarray(1) : content);

/** RSAPublicKey: modulus and exponent. */
export function rsaKeyOf(der: Uint8Array): ReadKey {
  const [modulus, exponent, ...rest] = sequenceOf(der) ?? [];
  if (modulus?.tag !== TAG.integer || exponent?.tag !== TAG.integer || rest.length > 0) return BROKEN;
  return { jwk: { kty: 'RSA', n: digits(modulus), e: digits(exponent) } };
}

function ecKeyOf(parameters: DerElement | undefined, point: Uint8Array): ReadKey {
  const curve = parameters?.tag === TAG.oid ? CURVES[hex(parameters.content)] : undefined;
  if (curve === undefined) return problem(`is on a curve that is not supported: use ${USABLE_KEYS}`);
  if (point[0] === 2 || point[0] === 3) {
    return problem('has a compressed point: convert it with openssl ec -pubin -in key.pem -conv_form uncompressed');
  }
  if (point[0] !== 4 || point.length !== 1 + 2 * curve.bytes) return BROKEN;
  const x = encodeBase64url(point.subarray(1, 1 + curve.bytes));
  const y = encodeBase64url(point.subarray(1 + curve.bytes));
  return { jwk: { kty: 'EC', crv: curve.crv, x, y } };
}

/** @param der a SubjectPublicKeyInfo */
export function publicKeyOf(der: Uint8Array): ReadKey {
  const [algorithm, bits, ...rest] = sequenceOf(der) ?? [];
  if (algorithm?.tag !== TAG.sequence || bits?.tag !== TAG.bitString || rest.length > 0) return BROKEN;
  const [oid, parameters] = elementsOf(algorithm.content) ?? [];
  // The first octet is the number of unused bits.
  if (oid?.tag !== TAG.oid || bits.content[0] !== 0) return BROKEN;
  const key = bits.content.subarray(1);
  switch (hex(oid.content)) {
    case RSA:
      return rsaKeyOf(key);
    case EC:
      return ecKeyOf(parameters, key);
    case ED25519:
      return { jwk: { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(key) } };
    case RSA_PSS:
      return problem(
        'is an RSA key for PSS only: make a plain RSA key (openssl genrsa 3072), which can sign PS256 too',
      );
    default:
      return problem(`has a type that is not supported: use ${USABLE_KEYS}`);
  }
}

export interface Certificate {
  readonly key: ReadKey;
  /** The DER of a name in hex, for comparison. */
  readonly issuer: string;
  readonly subject: string;
}

/** [0], the tag of the version; a certificate of version 1 has none. */
const VERSION_TAG = 0xa0;

/** Reads an X.509 certificate (RFC 5280 §4.1) without checking its dates and signature. */
export function certificateOf(der: Uint8Array): Certificate | undefined {
  const [signed] = sequenceOf(der) ?? [];
  const members = signed?.tag === TAG.sequence ? elementsOf(signed.content) : undefined;
  const [, , issuer, , subject, key] = members?.[0]?.tag === VERSION_TAG ? members.slice(1) : (members ?? []);
  if (issuer === undefined || subject === undefined || key === undefined) return undefined;
  return { key: publicKeyOf(key.encoded), issuer: hex(issuer.encoded), subject: hex(subject.encoded) };
}
