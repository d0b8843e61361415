/**
 * What of a field that was not accepted is shown again: as it was typed, but never a private key, wherever it was pasted. A
 * JWKS with private members comes back with its public half; what cannot be told from a private key does not come back.
 */
import { isJsonObject, type Json, jsonIn, printJson } from '../../../shared/json.ts';
import { publicMembersOf } from '../../../shared/oauth/jwks.ts';
import type { FieldTexts } from '../record/texts.ts';

/** Labels are short (RFC 7468 §4): a bound keeps the work linear. */
const PEM = /BEGIN [A-Z ]{0,40}PRIVATE KEY|PRIVATE KEY\s*[-\u2010-\u2015]/;
/** A private or secret member of a JWK (RFC 7518 §6.2.2, §6.3.2, §6.4) with something in it, quoted in whatever way. */
const member = (leastCharacters: number): RegExp =>
  new RegExp(`(?:^|\\W)(?:d|p|q|dp|dq|qi|k|t|r)[\\\\"'\\s]*[:=][\\\\"'\\s]*[A-Za-z0-9+/_-]{${leastCharacters},}`);
/** Where keys are expected, a short secret too; elsewhere what is as long as a key, so that notes stay what they are. */
const [ANY_MEMBER, LONG_MEMBER] = [member(8), member(40)];
/** DER in base64, which says nothing of what it is. */
const BARE = /[A-Za-z0-9+/_-]{60,}/;

const isSecret = (text: string): boolean => PEM.test(text) || ANY_MEMBER.test(text);

/** True of a text for people that a private key was pasted into. */
export const holdsPrivateKey = (text: string): boolean => PEM.test(text) || LONG_MEMBER.test(text);

const WORDS = ['kid', 'use', 'alg'] as const;

/** The members of a JWK that are public, and no other. */
const publicHalf = (jwk: Json): Json => {
  if (!isJsonObject(jwk)) return null;
  const words = WORDS.flatMap((name) => (typeof jwk[name] === 'string' ? [[name, jwk[name]] as const] : []));
  return { ...publicMembersOf(jwk), ...Object.fromEntries(words) };
};

/** @param text of the field for public keys */
export function publicKeysAgain(text: string): string {
  const json = jsonIn(text);
  if (json === undefined) {
    const isPublicPem = /BEGIN (?:[A-Z0-9]+ )?(?:PUBLIC KEY|CERTIFICATE)/.test(text);
    return isSecret(text) || (BARE.test(text) && !isPublicPem) ? '' : text;
  }
  // As it was understood, so that no escape hides a member's name.
  if (!isSecret(text) && !isSecret(printJson(json))) return text;
  if (!isJsonObject(json)) return '';
  const { keys } = json;
  const shown = Array.isArray(keys) ? { keys: keys.map(publicHalf) } : publicHalf(json);
  const again = JSON.stringify(shown, null, 2);
  return isSecret(again) ? '' : again;
}

/** Whether a field of any form comes back as it was typed. */
export const isShownAgain = (name: string, text: string): boolean =>
  name === 'jwks' ? publicKeysAgain(text) === text : !holdsPrivateKey(text);

/** The texts of the form of a key. */
export const shownAgain = (texts: FieldTexts): FieldTexts =>
  Object.fromEntries(
    Object.entries(texts).map(([name, given]) => [
      name,
      name === 'jwks' ? given.map(publicKeysAgain) : given.filter((text) => !holdsPrivateKey(text)),
    ]),
  );
