/**
 * Checks a client's JWKS (RFC 7517) key by key: the type of each key, and if it can verify an assertion. Used when an API
 * key is saved, when a JWKS URI is fetched and when a token is requested.
 */
import { isJsonObject, type Json, type JsonObject, parseJson } from '../json.ts';
import { Fault } from '../fault.ts';
import { ASSERTION_ALGORITHM_NAMES, isNamed, keyTypeFor, type KeyType } from './algorithms.ts';
import { checkEcPoint, type Curve, curveBits } from './ec-point.ts';
import { decodeBase64url } from '../base64url.ts';
import { quote } from '../quote.ts';

const MAX_JWKS_KEYS = 20;
const MAX_JWKS_DEPTH = 8;
const MIN_RSA_BITS = 2048;
/** The cost of verifying grows with the length, and anonymous callers can cause it. */
const MAX_RSA_BITS = 4096;
/** 65537. A signature for exponent 1 can be forged, and other exponents are not in use. */
const RSA_EXPONENT = 'AQAB';
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'] as const;

export interface CheckedKey {
  readonly kid: string | undefined;
  /** `RSA`, `EC P-256`, `OKP Ed25519`, or the type that the key states. */
  readonly type: string;
  /** Bits of the modulus or the curve; 0 when unknown. */
  readonly size: number;
  readonly use: string | undefined;
  readonly usable: boolean;
  readonly reason?: string;
  /** True if the key is unsafe, not only unsuitable for signatures: such a JWKS cannot be saved. */
  readonly dangerous: boolean;
  readonly jwk: JsonObject;
}

export interface CheckedJwks {
  readonly keys: readonly CheckedKey[];
  /** Problems of the whole document; empty if it can be used. */
  readonly problems: readonly string[];
  /** A private key was published, which also raises an alert. */
  readonly hasPrivateKey: boolean;
}

interface Finding {
  readonly size: number;
  readonly reason?: string;
  readonly dangerous?: boolean;
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function bitLength(bytes: Uint8Array): number {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - (Math.clz32(bytes[first] ?? 0) - 24);
}

function checkRsa(jwk: JsonObject): Finding {
  const modulus = decodeBase64url(text(jwk['n']));
  const size = modulus === undefined ? 0 : bitLength(modulus);
  if (modulus === undefined || size === 0) return { size, reason: 'n is not base64url', dangerous: true };
  if (size < MIN_RSA_BITS)
    return { size, reason: `${size} bits are too few, ${MIN_RSA_BITS} are needed`, dangerous: true };
  if (size > MAX_RSA_BITS)
    return { size, reason: `${size} bits are too many, ${MAX_RSA_BITS} are enough`, dangerous: true };
  if (((modulus.at(-1) ?? 0) & 1) === 0) return { size, reason: 'the modulus is even', dangerous: true };
  if (jwk['e'] !== RSA_EXPONENT) return { size, reason: 'the exponent is not 65537 (AQAB)', dangerous: true };
  return { size };
}

const checkEc =
  (curve: Curve) =>
  (jwk: JsonObject): Finding => {
    const size = curveBits(curve);
    const reason = checkEcPoint(curve, decodeBase64url(text(jwk['x'])), decodeBase64url(text(jwk['y'])));
    return reason === undefined ? { size } : { size, reason, dangerous: true };
  };

function checkEd25519(jwk: JsonObject): Finding {
  if (decodeBase64url(text(jwk['x']))?.length === 32) return { size: 256 };
  return { size: 256, reason: 'x is not 32 bytes', dangerous: true };
}

const TYPES: Readonly<Record<KeyType | 'oct', (jwk: JsonObject) => Finding>> = {
  RSA: checkRsa,
  'EC P-256': checkEc('P-256'),
  'EC P-384': checkEc('P-384'),
  'OKP Ed25519': checkEd25519,
  oct: () => ({ size: 0, reason: 'a shared secret is not a public key', dangerous: true }),
};

const TITLES: Readonly<Record<KeyType, string>> = {
  RSA: `RSA from ${MIN_RSA_BITS} bits`,
  'EC P-256': 'EC P-256',
  'EC P-384': 'EC P-384',
  'OKP Ed25519': 'Ed25519',
};
/** The usable types of key, for texts. */
export const USABLE_KEYS = Object.values(TITLES).join(', ');

const isKnownType = (type: string): type is keyof typeof TYPES => Object.hasOwn(TYPES, type);

/** The members that define a public key (RFC 7638 §3.2), for a library that accepts no others. */
export function publicMembersOf({ kty, crv, n, e, x, y }: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries({ kty, crv, n, e, x, y }).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    ),
  );
}

/** RFC 7517 §4.2, §4.3: the declared purpose of a key. */
function checkPurpose({ use, key_ops: operations, kid }: JsonObject): string | undefined {
  if (kid !== undefined && typeof kid !== 'string') return 'kid is not a string';
  if (use !== undefined && use !== 'sig') return `use is ${quote(use)}, not "sig"`;
  if (operations === undefined) return undefined;
  return Array.isArray(operations) && operations.includes('verify') ? undefined : 'key_ops lacks "verify"';
}

/** RFC 7517 §4.4: a key with an `alg` verifies no other algorithm. */
function checkAlgorithm(type: string, { alg }: JsonObject): string | undefined {
  const possible = ASSERTION_ALGORITHM_NAMES.filter((name) => keyTypeFor(name) === type);
  if (alg === undefined || possible.some((name) => isNamed(name, alg))) return undefined;
  return `alg is ${quote(alg)}, not one of ${possible.join(', ')}`;
}

function checkKey(jwk: Json): CheckedKey {
  if (!isJsonObject(jwk)) {
    const reason = 'is not an object';
    return { kid: undefined, type: 'none', size: 0, use: undefined, usable: false, reason, dangerous: true, jwk: {} };
  }
  const kty = text(jwk['kty']);
  const type = kty === 'EC' || kty === 'OKP' ? `${kty} ${text(jwk['crv'])}` : kty;
  const finding: Finding = isKnownType(type)
    ? TYPES[type](jwk)
    : { size: 0, reason: `a key of type ${quote(type)} is not supported` };
  const reason = finding.reason ?? checkPurpose(jwk) ?? checkAlgorithm(type, jwk);
  return {
    kid: typeof jwk['kid'] === 'string' ? jwk['kid'] : undefined,
    type,
    size: finding.size,
    use: typeof jwk['use'] === 'string' ? jwk['use'] : undefined,
    usable: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
    dangerous: finding.dangerous ?? false,
    jwk,
  };
}

const noneUsable = (keys: readonly CheckedKey[]): string => {
  const why = keys.slice(0, 3).map(({ kid, reason }) => `${kid === undefined ? 'a key' : quote(kid)}: ${reason}`);
  return `none of its keys can verify a signature (${why.join('; ')})`;
};

const refused = (problem: string): CheckedJwks => ({ keys: [], problems: [problem], hasPrivateKey: false });

/** Checks a parsed JWKS. Problems and reasons are sentences for its publisher. */
export function checkJwks(json: Json): CheckedJwks {
  const list = isJsonObject(json) ? json['keys'] : undefined;
  if (!Array.isArray(list)) return refused('it is not a JSON object with a "keys" array');
  if (list.length > MAX_JWKS_KEYS) return refused(`it has ${list.length} keys, ${MAX_JWKS_KEYS} at most are read`);
  const keys = list.map(checkKey);
  const hasPrivateKey = keys.some(({ jwk }) => PRIVATE_MEMBERS.some((member) => Object.hasOwn(jwk, member)));
  const problems = [
    ...(hasPrivateKey
      ? ['it has a PRIVATE key: that key is compromised, make a new one and publish its public half']
      : []),
    ...(keys.length === 0 ? ['it has no keys'] : []),
    ...(keys.length > 0 && !keys.some(({ usable }) => usable) ? [noneUsable(keys)] : []),
  ];
  return { keys, problems, hasPrivateKey };
}

/** Checks the text of a JWKS. */
export function readJwks(document: string): CheckedJwks {
  try {
    return checkJwks(parseJson(document, MAX_JWKS_DEPTH));
  } catch (error) {
    if (error instanceof Fault) return refused(`it is ${error.message}`);
    throw error;
  }
}
