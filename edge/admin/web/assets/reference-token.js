/*
 * Gets a token with a private key in the browser. The key is imported as not extractable and signs an assertion (RFC 7523).
 * Only the assertion is sent, to the token endpoint. The page stores neither key nor token, and clears both when it is left.
 */
const panel = document.getElementById('token');
const form = document.getElementById('token-form');
const field = (name) => document.getElementById(`token-${name}`);
const SCHEME = 'accessToken';
/** Half of the token endpoint's limit, because clocks differ. */
const LIFETIME_SECONDS = 150;

const rsa = (name, hash) => ({ name, hash });
/** By `alg` (RFC 7518 §3.1, RFC 8037 §3.1): the parameters to import a key and to sign. */
const ALGORITHMS = {
  RS256: { kty: 'RSA', key: rsa('RSASSA-PKCS1-v1_5', 'SHA-256'), sign: 'RSASSA-PKCS1-v1_5' },
  RS384: { kty: 'RSA', key: rsa('RSASSA-PKCS1-v1_5', 'SHA-384'), sign: 'RSASSA-PKCS1-v1_5' },
  PS256: { kty: 'RSA', key: rsa('RSA-PSS', 'SHA-256'), sign: { name: 'RSA-PSS', saltLength: 32 } },
  PS384: { kty: 'RSA', key: rsa('RSA-PSS', 'SHA-384'), sign: { name: 'RSA-PSS', saltLength: 48 } },
  ES256: {
    kty: 'EC',
    crv: 'P-256',
    key: { name: 'ECDSA', namedCurve: 'P-256' },
    sign: { name: 'ECDSA', hash: 'SHA-256' },
  },
  ES384: {
    kty: 'EC',
    crv: 'P-384',
    key: { name: 'ECDSA', namedCurve: 'P-384' },
    sign: { name: 'ECDSA', hash: 'SHA-384' },
  },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', key: { name: 'Ed25519' }, sign: 'Ed25519' },
};
/** SMART App Launch 2.2 requires the first two. */
const PREFERRED = ['RS384', 'ES384', 'ES256', 'EdDSA'];

const base64url = (bytes) =>
  new Uint8Array(bytes).toBase64?.({ alphabet: 'base64url', omitPadding: true }) ?? old(bytes);
const old = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const part = (value) => base64url(new TextEncoder().encode(JSON.stringify(value)));

/** An error whose message is shown; it never has pasted text. */
class ShownError extends Error {}

function pemOf(text) {
  // oxlint-disable-next-line gateway/linear-expression -- a text that the reader pastes
  const [, kind, body] = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]+?)-----END \1-----/.exec(text) ?? [];
  if (kind === undefined) throw new ShownError('This is neither a PEM nor a JWK.');
  const convert = 'openssl pkcs8 -topk8 -nocrypt -in your.pem';
  if (kind === 'ENCRYPTED PRIVATE KEY' || body.includes('ENCRYPTED')) {
    throw new ShownError(`The key is protected by a passphrase; make a copy without one: ${convert}`);
  }
  if (kind === 'RSA PRIVATE KEY' || kind === 'EC PRIVATE KEY') {
    throw new ShownError(`A browser reads PKCS #8 only; convert the file: ${convert}`);
  }
  if (kind !== 'PRIVATE KEY')
    throw new ShownError(`This is a ${kind.toLowerCase()}: the private key is needed to sign.`);
  return Uint8Array.from(atob(body.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0));
}

function jwkOf(text, kid) {
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new ShownError('This is not JSON that can be read.');
  }
  const keys = (Array.isArray(given.keys) ? given.keys : [given]).filter((one) => typeof one?.d === 'string');
  const key = keys.find((one) => one.kid === kid) ?? keys[0];
  if (key === undefined) throw new ShownError('There is no private key in it: the member d is missing.');
  return key;
}

/** The algorithms for a key, its own `alg` first. */
function algorithmsOf(jwk, asked) {
  const own = jwk?.alg === 'Ed25519' ? 'EdDSA' : jwk?.alg;
  const suits = (name) =>
    jwk === undefined || (ALGORITHMS[name].kty === jwk.kty && (ALGORITHMS[name].crv ?? jwk.crv) === jwk.crv);
  const wanted = asked || own;
  const names = wanted === undefined || wanted === '' ? PREFERRED : [wanted];
  return names.filter((name) => name in ALGORITHMS && suits(name));
}

async function readKey(text, kid, asked) {
  if (globalThis.crypto?.subtle === undefined) {
    throw new ShownError('This browser signs on https pages (and on localhost) only.');
  }
  const trimmed = text.trim();
  if (trimmed === '') throw new ShownError('Paste the private key, or choose its file.');
  const isJwk = trimmed.startsWith('{');
  const jwk = isJwk ? jwkOf(trimmed, kid) : undefined;
  const der = isJwk ? undefined : pemOf(trimmed);
  for (const alg of algorithmsOf(jwk, asked)) {
    try {
      const { key: how } = ALGORITHMS[alg];
      // Names of WebCrypto's own in it (alg, use, key_ops) would only be compared with what is asked for here.
      const { alg: _alg, use: _use, key_ops: _ops, ext: _ext, ...bare } = jwk ?? {};
      const key = isJwk
        ? await crypto.subtle.importKey('jwk', bare, how, false, ['sign'])
        : await crypto.subtle.importKey('pkcs8', der, how, false, ['sign']);
      return { key, alg, kid: kid || jwk?.kid };
    } catch {
      // A key of another type: the next algorithm.
    }
  }
  throw new ShownError('The key cannot be used: it has to be RSA (2048 bits or more), EC P-256 or P-384, or Ed25519.');
}

async function assertionOf({ key, alg, kid }, clientId, audience) {
  const now = Math.floor(Date.now() / 1000);
  const header = { alg, typ: 'JWT', ...(kid ? { kid } : {}) };
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: audience,
    jti: crypto.randomUUID(),
    iat: now,
    exp: now + LIFETIME_SECONDS,
  };
  const input = `${part(header)}.${part(claims)}`;
  const signature = await crypto.subtle.sign(ALGORITHMS[alg].sign, key, new TextEncoder().encode(input));
  return `${input}.${base64url(signature)}`;
}

/** The key that signs while the page is open; unreadable also for scripts. */
let signing;

const said = field('said');
const say = (tone, ...parts) => {
  said.className = `notice ${tone}`;
  said.replaceChildren(...parts);
};

function forget() {
  signing = undefined;
  form.reset();
  say('');
  globalThis.ui?.authActions.logout([SCHEME]);
}

async function getToken() {
  const { endpoint, assertionType } = panel.dataset;
  const kid = field('kid').value.trim();
  const [file] = field('file').files;
  const pasted = file === undefined ? field('key').value : await file.text();
  if (pasted.trim() !== '' || signing === undefined) signing = await readKey(pasted, kid, field('alg').value);
  // From here on nothing of the key is in the page.
  field('key').value = '';
  field('file').value = '';
  field('key').placeholder = 'The key is kept until you leave the page; paste another to change it.';
  const clientId = field('client').value.trim();
  const answer = await fetch(endpoint, {
    method: 'POST',
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      scope: field('scope').value.trim(),
      audience: field('audience').value,
      client_assertion_type: assertionType,
      client_assertion: await assertionOf(signing, clientId, endpoint),
    }),
  }).catch(() => {
    throw new ShownError(`The token service at ${endpoint} cannot be reached from this page.`);
  });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const id = answer.headers.get('x-request-id');
    const description = body.error_description ?? 'no description';
    const link = document.createElement('a');
    link.href = said.dataset.errors;
    link.textContent = 'Possible causes';
    const who = `with it the administrator of the key finds the exact reason. `;
    return say('bad', `${answer.status} ${body.error ?? ''}: ${description}. Request ${id ?? 'unknown'}; ${who}`, link);
  }
  globalThis.ui.preauthorizeApiKey(SCHEME, body.access_token);
  const until = new Date(Date.now() + body.expires_in * 1000).toLocaleTimeString();
  say(
    'good',
    `A token for ${field('audience').value} until ${until}, with ${body.scope}. It is in every request below.`,
  );
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  say('busy', 'Signing …');
  getToken().catch((error) => say('bad', error instanceof ShownError ? error.message : 'The token could not be made.'));
});
field('forget').addEventListener('click', forget);
addEventListener('pagehide', forget);

/** The scopes that each audience needs. */
const SCOPES = {
  'svc-fhir': 'system/*.read',
  'svc-hl7-http': 'system/Patient.write system/Observation.write system/DocumentReference.write',
};
field('audience').addEventListener('change', () => {
  const { value } = field('scope');
  if (Object.values(SCOPES).includes(value)) field('scope').value = SCOPES[field('audience').value] ?? value;
});
