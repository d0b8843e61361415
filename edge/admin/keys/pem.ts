/** PEM (RFC 7468) as people paste it, as far as public keys stand in it: what is in it, or what it is instead. */
import type { JsonObject } from '../../../shared/json.ts';
import { type Certificate, certificateOf, publicKeyOf, type ReadKey, rsaKeyOf } from './spki.ts';

export type ReadPem = { readonly jwks: readonly JsonObject[] } | { readonly problem: string };

/** What a key that is told to the gateway, or to anybody else, has become. */
export const NOT_ANY_MORE_PRIVATE =
  'it has a PRIVATE key, which is compromised by that and was not kept: make a new one and give its public half';

/** What can be pasted that is no public key, by its label, and what to do. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/PRIVATE KEY/, NOT_ANY_MORE_PRIVATE],
  [
    /CERTIFICATE REQUEST/,
    'it is a certificate request (CSR): its public key is printed by openssl req -in it -noout -pubkey',
  ],
  [/^SSH2 PUBLIC KEY/, 'it is a key of SSH: ssh-keygen -e -m PKCS8 -f it prints it as a public key in PEM'],
  [/^PGP/, 'it is a key of PGP, which no assertion is signed with'],
  [/^PKCS7|^CMS/, 'it is a bundle (PKCS #7): openssl pkcs7 -in it -print_certs prints the certificates'],
];

/** Mail programs and word processors make dashes of hyphens, .env files `\n` of lines. Bounds keep the work linear. */
const plain = (text: string): string =>
  text
    .replaceAll(
      /[\u2010-\u2015]{1,10}(?=\s{0,10}(?:BEGIN|END)\b)|(?<=(?:KEY|CERTIFICATE))\s{0,10}[\u2010-\u2015]+/g,
      '-----',
    )
    .replaceAll('\\n', '\n');

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g;

/** True where it says that it is PEM, also with other dashes and when a part of it is missing. */
export const isPem = (text: string): boolean => /BEGIN [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE|PKCS7|CMS)/.test(text);

function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Of a chain its end: whoever issued another certificate of the text signs for others, not for this client. */
function endsOf(certificates: readonly Certificate[]): readonly Certificate[] {
  return certificates.filter(
    ({ subject }) => !certificates.some((other) => other.issuer === subject && other.subject !== subject),
  );
}

const DAMAGED = 'it is damaged: what stands between BEGIN and END cannot be read';

/** The public keys in a text; of certificates those that issued none of the others. */
export function readPem(given: string): ReadPem {
  const text = plain(given);
  const labels = [...text.matchAll(/BEGIN ([A-Z0-9 ]+)/g)].map(([, label = '']) => label);
  for (const [pattern, problem] of OTHERS) if (labels.some((label) => pattern.test(label))) return { problem };

  const blocks = [...text.matchAll(BLOCK)].map(([, label = '', body = '']) => ({ label, der: bytesOf(body) }));
  if (blocks.length < labels.length || blocks.length === 0) {
    return { problem: 'it is not whole: copy it from -----BEGIN to the last dash of -----END' };
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
    } else return { problem: `it is a ${label}, not a public key or a certificate` };
  }
  const read = [...keys, ...endsOf(certificates).map(({ key }) => key)];
  const broken = read.find((key) => 'problem' in key);
  if (broken !== undefined && 'problem' in broken) return broken;
  return { jwks: read.flatMap((key) => ('jwk' in key ? [key.jwk] : [])) };
}
