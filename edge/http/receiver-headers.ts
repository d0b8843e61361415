/** The headers that a receiver of notifications asks for beside the signature. They are sealed, and never shown again. */
import { CompactEncrypt, compactDecrypt, errors } from 'jose';
import * as z from 'zod';

import { sealingRing } from './crypto.ts';

/** Lower case. Others could change the request, or how a proxy reads it. */
export const RECEIVER_HEADERS = [
  'api-key',
  'authorization',
  'ocp-apim-subscription-key',
  'x-api-key',
  'x-auth-token',
  'x-functions-key',
] as const;
export const MAX_RECEIVER_HEADERS = 4;
const MAX_VALUE = 2000;

const LINE = /^([A-Za-z-]{1,40}): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;
const headersSchema = z.record(z.string(), z.string());
/** By lower-case name. */
export type ReceiverHeaders = z.infer<typeof headersSchema>;

/** @param lines `Name: value` @returns the headers, or a clause that says what is wrong, without a value */
export function readReceiverHeaders(lines: readonly string[]): ReceiverHeaders | string {
  const headers = new Map<string, string>();
  if (lines.length > MAX_RECEIVER_HEADERS) return `must be at most ${MAX_RECEIVER_HEADERS} headers`;
  for (const line of lines) {
    const [, name = '', value = ''] = LINE.exec(line) ?? [];
    const lower = name.toLowerCase();
    if (value === '' || value.length > MAX_VALUE)
      return `must be "Name: value", with a value of 1 to ${MAX_VALUE} ASCII characters`;
    if (!RECEIVER_HEADERS.some((allowed) => allowed === lower)) return `must be one of ${RECEIVER_HEADERS.join(', ')}`;
    if (headers.has(lower)) return `must have ${lower} once`;
    headers.set(lower, value);
  }
  return Object.fromEntries(headers);
}

const ringOf = (secrets: readonly string[], purpose: string) => sealingRing(secrets, `headers of ${purpose}`);

/** @param secrets GATEWAY_SECRET @param purpose of one subscription: a value cannot be opened for another */
export async function sealReceiverHeaders(
  secrets: readonly string[],
  purpose: string,
  headers: ReceiverHeaders,
): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(headers));
  const sealing = new CompactEncrypt(text).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' });
  return sealing.encrypt(await ringOf(secrets, purpose).first());
}

/** Undefined: no secret of GATEWAY_SECRET can open them any more. */
export function openReceiverHeaders(
  secrets: readonly string[],
  purpose: string,
  sealed: string,
): Promise<ReceiverHeaders | undefined> {
  return ringOf(secrets, purpose).open(async (key) => {
    try {
      const { plaintext } = await compactDecrypt(sealed, key);
      return headersSchema.parse(JSON.parse(new TextDecoder().decode(plaintext)));
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  });
}
