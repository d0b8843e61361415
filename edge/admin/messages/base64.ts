/** Base64 as PostgreSQL prints it (`encode(…, 'base64')`: lines of 76 characters). */
export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text.replaceAll('\n', ''));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
