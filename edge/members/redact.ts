/**
 * Removes private keys from the texts of a rejected form before the form is shown again. The public members of a JWKS
 * stay; a text that may be a private key is removed.
 */
import { isJsonObject, type Json, jsonIn, printJson } from '../../shared/json.ts';
import { publicMembersOf } from '../../shared/oauth/jwks.ts';
import type { FieldTexts } from './texts.ts';

/** Labels are short (RFC 7468 §4): the bound keeps the time linear. */
const PEM = /BEGIN [A-Z ]{0,40}PRIVATE KEY|PRIVATE KEY\s*[-\u2010-\u2015]/;
/** A private or secret member of a JWK with a value, in any quotes (RFC 7518 §6.2.2, §6.3.2, §6.4). */
const member = (leastCharacters: number): RegExp =>
  // oxlint-disable-next-line gateway/linear-expression -- its only variable part is a number
  new RegExp(`(?:^|\\W)(?:d|p|q|dp|dq|qi|k|t|r)[\\\\"'\\s]*[:=][\\\\"'\\s]*[A-Za-z0-9+/_-]{${leastCharacters},}`);
/** In the field for keys short values count too; elsewhere only values as long as a key, so that notes stay. */
const [ANY_MEMBER, LONG_MEMBER] = [member(8), member(40)];
/** Base64 without labels: it may be DER of a private key. */
const BARE = /[A-Za-z0-9+/_-]{60,}/;

const isSecret = (text: string): boolean => PEM.test(text) || ANY_MEMBER.test(text);

/** True if a text of another field has a private key. */
export const holdsPrivateKey = (text: string): boolean => PEM.test(text) || LONG_MEMBER.test(text);

const LABELS = ['kid', 'use', 'alg'] as const;

/** The public members of a JWK, and its labels. */
const publicHalf = (jwk: Json): Json => {
  if (!isJsonObject(jwk)) return null;
  const labels = LABELS.flatMap((name) => (typeof jwk[name] === 'string' ? [[name, jwk[name]] as const] : []));
  return { ...publicMembersOf(jwk), ...Object.fromEntries(labels) };
};

/** Removes private keys from the text of the field for public keys. */
export function redactKeys(text: string): string {
  const json = jsonIn(text);
  if (json === undefined) {
    const isPublicPem = /BEGIN (?:[A-Z0-9]+ )?(?:PUBLIC KEY|CERTIFICATE)/.test(text);
    return isSecret(text) || (BARE.test(text) && !isPublicPem) ? '' : text;
  }
  // The printed JSON is checked too: it has no escapes that could hide a member's name.
  if (!isSecret(text) && !isSecret(printJson(json))) return text;
  if (!isJsonObject(json)) return '';
  const { keys } = json;
  const shown = Array.isArray(keys) ? { keys: keys.map(publicHalf) } : publicHalf(json);
  const again = JSON.stringify(shown, null, 2);
  return isSecret(again) ? '' : again;
}

/** True if a field of any form has no private key. */
export const isUnredacted = (name: string, text: string): boolean =>
  name === 'jwks' ? redactKeys(text) === text : !holdsPrivateKey(text);

/** Removes private keys from the texts of an API key's form. */
export const redactTexts = (texts: FieldTexts): FieldTexts =>
  Object.fromEntries(
    Object.entries(texts).map(([name, given]) => [
      name,
      name === 'jwks' ? given.map(redactKeys) : given.filter((text) => !holdsPrivateKey(text)),
    ]),
  );
