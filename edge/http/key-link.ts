/**
 * The secret of a link of an API key: site, key and link, and 24 random bytes. So a request needs no look-up before its first
 * statement. It is sent as a Bearer token, and never in an address that a server logs.
 */
import { Fault } from '../../shared/fault.ts';
import { addressKey } from '../../shared/ip.ts';
import { decodeBase64url, encodeBase64url } from '../../shared/base64url.ts';
import { clientIdOf, uuidOfClientId } from '../../shared/oauth/client-id.ts';
import type { Deps } from '../deps.ts';
import type { PresentedLink } from '../store/key-link.ts';
import { sha256Of } from './crypto.ts';
import { AFTER_THE_WINDOW } from './fault-status.ts';

const PREFIX = 'link_';
const RANDOM_BYTES = 24;
const LENGTH = 3 * 16 + RANDOM_BYTES;

const bytesOfUuid = (uuid: string): number[] =>
  (uuid.replaceAll('-', '').match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));

function uuidOf(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A new link and its secret. */
export async function makeLink(
  site: string,
  clientId: string,
): Promise<{ readonly link: PresentedLink; readonly secret: string }> {
  const linkId = crypto.randomUUID();
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  const bytes = [...bytesOfUuid(site), ...bytesOfUuid(uuidOfClientId(clientId)), ...bytesOfUuid(linkId), ...random];
  const secret = PREFIX + encodeBase64url(Uint8Array.from(bytes));
  return { link: { site, clientId, linkId, sha256: await sha256Of(secret) }, secret };
}

/**
 * The link of a request, not verified: the first statement does that.
 *
 * @returns undefined for a request without a link
 * @throws Fault `unauthenticated` for a text that is not a link
 */
export async function presentedLink(request: Request): Promise<PresentedLink | undefined> {
  const [, secret] = /^Bearer +(link_[A-Za-z0-9_-]*) *$/i.exec(request.headers.get('authorization') ?? '') ?? [];
  if (secret === undefined) return undefined;
  const bytes = decodeBase64url(secret.slice(PREFIX.length));
  if (bytes?.length !== LENGTH) {
    throw new Fault('unauthenticated', 'the link is not complete: copy it again', { code: 'invalid_token' });
  }
  const at = (number: number): string => uuidOf(bytes.subarray(number * 16, number * 16 + 16));
  return { site: at(0), clientId: clientIdOf(at(1)), linkId: at(2), sha256: await sha256Of(secret) };
}

/**
 * Limits the requests of an address with a link, which is verified later. So a stranger cannot use up the limit of a key.
 *
 * @throws Fault `throttled`
 */
export async function limitLinks(
  { rateLimiter, sourceAddress }: Pick<Deps, 'rateLimiter' | 'sourceAddress'>,
  request: Request,
) {
  if (await rateLimiter.allow('token-address', `link ${addressKey(sourceAddress(request))}`)) return;
  throw new Fault('throttled', 'too many requests with a link from this address', { headers: AFTER_THE_WINDOW });
}
