/**
 * Every check of the token endpoint on one assertion, for the administrator of its key: the same checks in the same
 * order, but all of them, with the value seen. Nothing is used up: single use is not tried, no refusal is kept.
 */
import type { Json, JsonObject } from '../../shared/json.ts';
import { isAssertionAlgorithm } from '../../shared/oauth/algorithms.ts';
import { CLAIM_CHECKS } from '../../shared/oauth/assertion-claims.ts';
import { HEADER_CHECKS } from '../../shared/oauth/assertion-header.ts';
import { chooseKeys } from '../../shared/oauth/choose-key.ts';
import { claimedClient } from '../../shared/oauth/client-id.ts';
import { readCompactJws } from '../../shared/oauth/compact-jws.ts';
import type { RefusalCode } from '../../shared/oauth/reason.ts';
import { quote } from '../../shared/quote.ts';
import type { Deps } from '../deps.ts';
import { oauthAddresses } from '../http/smart-configuration.ts';
import { type ClientRow, findClient } from '../store/client.ts';
import type { ClientKeyring } from './client-keys.ts';
import { isSignedByOne } from './signature.ts';

export interface ExplainedCheck {
  readonly code: RefusalCode;
  readonly title: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** Why it failed, or why it was not made. */
  readonly reason?: string;
  /** The value in the assertion, quoted. */
  readonly seen?: string;
}

export interface ExplainedAssertion {
  readonly accepted: boolean;
  readonly clientId: string | null;
  readonly header: JsonObject | null;
  readonly claims: JsonObject | null;
  readonly checks: readonly ExplainedCheck[];
}

function toCheck(code: RefusalCode, title: string, reason: string | undefined, value?: Json): ExplainedCheck {
  const seen = value === undefined ? {} : { seen: quote(value) };
  return reason === undefined
    ? { code, title, result: 'passed', ...seen }
    : { code, title, result: 'failed', reason, ...seen };
}

const skipped = (code: RefusalCode, title: string, reason: string): ExplainedCheck => ({
  code,
  title,
  result: 'skipped',
  reason,
});

const SIGNATURE = 'the signature verifies with a key of the JWKS';

async function checkSignature(
  clientKeys: ClientKeyring,
  client: ClientRow,
  text: string,
  header: JsonObject,
): Promise<ExplainedCheck[]> {
  const { alg } = header;
  if (!isAssertionAlgorithm(alg)) return [skipped('signature', SIGNATURE, 'alg is not supported')];
  const found = await clientKeys.keysOf(client);
  const usable = 'the JWKS can be used';
  if ('reason' in found)
    return [toCheck('jwks', usable, found.reason), skipped('signature', SIGNATURE, 'there are no keys')];
  const jwks = toCheck('jwks', usable, undefined);
  const chosen = chooseKeys(header, alg, found.jwks.keys);
  const fits = 'a key of the JWKS fits kid and alg';
  if ('reason' in chosen)
    return [
      jwks,
      toCheck(chosen.code, fits, chosen.reason, header['kid']),
      skipped('signature', SIGNATURE, 'no key fits'),
    ];
  const isSigned = await isSignedByOne(
    text,
    alg,
    chosen.keys.map(({ jwk }) => jwk),
  );
  const reason = isSigned ? undefined : 'the signature does not verify: was it made with the matching private key?';
  return [jwks, toCheck('kid', fits, undefined, header['kid']), toCheck('signature', SIGNATURE, reason)];
}

function checkKey(client: ClientRow): ExplainedCheck[] {
  const disabled = client.status === 'active' ? undefined : 'the API key is disabled';
  const noScopes =
    client.allowed_scopes.length > 0 ? undefined : 'the API key has no Allowed scopes: no token is issued';
  return [
    toCheck('status', 'the API key is enabled', disabled, client.status),
    toCheck('scope', 'the API key has Allowed scopes', noScopes, client.allowed_scopes.join(' ')),
  ];
}

/**
 * Explains an assertion to the administrators of a site.
 *
 * @param site only its own keys: another site's client is as unknown as one that does not exist
 */
export async function explainAssertion(
  deps: Deps,
  clientKeys: ClientKeyring,
  site: string,
  assertion: string,
): Promise<ExplainedAssertion> {
  const read = readCompactJws(assertion);
  const format = 'three base64url parts, header and payload in JSON';
  if ('reason' in read) {
    return {
      accepted: false,
      clientId: null,
      header: null,
      claims: null,
      checks: [toCheck('format', format, read.reason)],
    };
  }
  const { text, header, claims } = read.jws;
  const clientId = claimedClient(claims);
  const [found] = clientId === undefined ? [] : await deps.database.run(findClient(clientId));
  const client = found?.site_id === site ? found : undefined;
  const unknown = client === undefined ? 'no API key of this site has this Client ID' : undefined;
  const context = {
    clientId: clientId ?? '',
    audiences: [oauthAddresses(deps.config).tokenEndpoint],
    now: Math.floor(deps.now() / 1000),
  };
  const member = (from: JsonObject, code: RefusalCode): Json | undefined => from[code];

  const checks: ExplainedCheck[] = [
    toCheck('format', format, undefined),
    toCheck('client', 'sub or iss is a Client ID of this site', unknown, claims['sub'] ?? claims['iss']),
    ...HEADER_CHECKS.map(({ code, title, check }) =>
      toCheck(code, title, check(header, { jwksUri: client?.jwks_uri ?? null }), member(header, code)),
    ),
    ...(client === undefined
      ? [skipped('signature', SIGNATURE, 'the client is not known')]
      : await checkSignature(clientKeys, client, text, header)),
    ...CLAIM_CHECKS.map(({ code, title, check }) => toCheck(code, title, check(claims, context), member(claims, code))),
    ...(client === undefined ? [] : checkKey(client)),
  ];
  const accepted = checks.every(({ result }) => result === 'passed');
  const once = skipped('replay', 'the jti was not used before', 'not tried: that would use the assertion up');
  return { accepted, clientId: clientId ?? null, header, claims, checks: [...checks, once] };
}
