/** Reads public keys from pasted PEM (RFC 7468). */
import type { JsonObject } from '../../../shared/json.ts';
import { type Certificate, certificateOf, publicKeyOf, type ReadKey, rsaKeyOf } from './spki.ts';

export type ReadPem = { readonly jwks: readonly JsonObject[] } | { readonly problem: string };

/** PEM labels of other things, and what to do. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [
    /PRIVATE KEY/,
    'has a PRIVATE key, which is now compromised and was not stored: make a new key pair and paste its public key',
  ],
  [
    /CERTIFICATE REQUEST/,
    'is a certificate request (CSR): print its public key with openssl req -in FILE -noout -pubkey',
  ],
  [/^SSH2 PUBLIC KEY/, 'is an SSH key: convert it with ssh-keygen -e -m PKCS8 -f FILE'],
  [/^PGP/, 'is a PGP key, which cannot sign assertions: make a key pair with openssl'],
  [/^PKCS7|^CMS/, 'is a bundle (PKCS #7): print its certificates with openssl pkcs7 -in FILE -print_certs'],
];

/** Undoes the dashes of mail programs and the `\n` of .env files. Bounds keep the time linear. */
const plain = (text: string): string =>
  text
    .replaceAll(
      /[\u2010-\u2015]{1,10}(?=\s{0,10}(?:BEGIN|END)\b)|(?<=(?:KEY|CERTIFICATE))\s{0,10}[\u2010-\u2015]+/g,
      '-----',
    )
    .replaceAll('\\n', '\n');

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g;

/** True for PEM, also with other dashes or with a missing part. */
export const isPem = (text: string): boolean => /BEGIN [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE|PKCS7|CMS)/.test(text);

function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The ends of certificate chains: an issuer's certificate is not the client's. */
function endsOf(certificates: readonly Certificate[]): readonly Certificate[] {
  return certificates.filter(
    ({ subject }) => !certificates.some((other) => other.issuer === subject && other.subject !== subject),
  );
}

const DAMAGED = 'is damaged: the text between BEGIN and END is not valid';

/** Reads the public keys and certificates of a text, without the issuers of other certificates. */
export function readPem(given: string): ReadPem {
  const text = plain(given);
  const labels = [...text.matchAll(/BEGIN ([A-Z0-9 ]+)/g)].map(([, label = '']) => label);
  for (const [pattern, problem] of OTHERS) if (labels.some((label) => pattern.test(label))) return { problem };

  const blocks = [...text.matchAll(BLOCK)].map(([, label = '', body = '']) => ({ label, der: bytesOf(body) }));
  if (blocks.length < labels.length || blocks.length === 0) {
    return { problem: 'is incomplete: copy it from -----BEGIN to the last dash of -----END' };
  }
  const keys: ReadKey[] = [];
  const certificates: Certificate[] = [];
  for (const { label, der } of blocks) {
    if (der === undefined) return { problem: DAMAGED };
    if (label === 'PUBLIC KEY') keys.push(publicKeyOf(der));
    else if (label === 'RSA PUBLIC KEY') keys.push(rsaKeyOf(der));
    else if (/^(?:X509 )?CERTIFICATE$/.test(label)) {
      const certificate = certificateOf(der);
      if (certificate === undefined) return { problem: DAMAGED };
      certificates.push(certificate);
    } else return { problem: `is a ${label}: paste a public key or a certificate` };
  }
  const read = [...keys, ...endsOf(certificates).map(({ key }) => key)];
  const broken = read.find((key) => 'problem' in key);
  if (broken !== undefined && 'problem' in broken) return broken;
  return { jwks: read.flatMap((key) => ('jwk' in key ? [key.jwk] : [])) };
}
