/** base64url as JOSE requires it (RFC 7515 §2): no padding, no white space, one spelling for each sequence of bytes. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** The unused bits of the last character, by length modulo 4; they must be zero. */
const SPARE_BITS: readonly (number | undefined)[] = [0, undefined, 0b1111, 0b11];

/** @returns undefined for anything that is not canonical base64url */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const spare = SPARE_BITS[text.length % 4];
  if (spare === undefined || (ALPHABET.indexOf(text.slice(-1)) & spare) !== 0) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export function encodeBase64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');
}
