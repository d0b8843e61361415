/*
 * A token from a private key, made in the reader's browser: the key is imported so that it cannot be read out again, signs an
 * assertion (RFC 7523), and only the assertion is sent, to the token endpoint alone. Nothing is stored; whoever leaves the
 * page, presses the button, or comes back by the browser's history finds neither key nor token.
 */
const panel = document.getElementById('token');
const form = document.getElementById('token-form');
const field = (name) => document.getElementById(`token-${name}`);
const SCHEME = 'accessToken';
/** Half of what the token endpoint allows: clocks differ. */
const LIFETIME_SECONDS = 150;

const rsa = (name, hash) => ({ name, hash });
/** By `alg` (RFC 7518 §3.1, RFC 8037 §3.1): how a key is imported, and how it signs. */
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
/** What SMART asks servers to support comes first. */
const PREFERRED = ['RS384', 'ES384', 'ES256', 'EdDSA'];

const base64url = (bytes) =>
  new Uint8Array(bytes).toBase64?.({ alphabet: 'base64url', omitPadding: true }) ?? old(bytes);
const old = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const part = (value) => base64url(new TextEncoder().encode(JSON.stringify(value)));

/** A sentence for the reader, never of what was pasted. */
class Told extends Error {}

function pemOf(text) {
  const [, kind, body] = /-----BEGIN ([A-Z0-9 ]+)-----([\s\S]+?)-----END \1-----/.exec(text) ?? [];
  if (kind === undefined) throw new Told('This is neither a PEM nor a JWK.');
  const convert = 'openssl pkcs8 -topk8 -nocrypt -in your.pem';
  if (kind === 'ENCRYPTED PRIVATE KEY' || body.includes('ENCRYPTED')) {
    throw new Told(`The key is protected by a passphrase; make a copy without one: ${convert}`);
  }
  if (kind === 'RSA PRIVATE KEY' || kind === 'EC PRIVATE KEY') {
    throw new Told(`A browser reads PKCS #8 only; convert the file: ${convert}`);
  }
  if (kind !== 'PRIVATE KEY') throw new Told(`This is a ${kind.toLowerCase()}: the private key is needed to sign.`);
  return Uint8Array.from(atob(body.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0));
}

function jwkOf(text, kid) {
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Told('This is not JSON that can be read.');
  }
  const keys = (Array.isArray(given.keys) ? given.keys : [given]).filter((one) => typeof one?.d === 'string');
  const key = keys.find((one) => one.kid === kid) ?? keys[0];
  if (key === undefined) throw new Told('There is no private key in it: the member d is missing.');
  return key;
}

/** Which algorithms suit the key, the one that it names itself first. */
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
    throw new Told('This browser signs on https pages (and on localhost) only.');
  }
  const trimmed = text.trim();
  if (trimmed === '') throw new Told('Paste the private key, or choose its file.');
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
  throw new Told('The key cannot be used: it has to be RSA (2048 bits or more), EC P-256 or P-384, or Ed25519.');
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
  said.className = tone;
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
    throw new Told(`The token service at ${endpoint} cannot be reached from this page.`);
  });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const id = answer.headers.get('x-request-id');
    const told = body.error_description ?? 'no description';
    const link = document.createElement('a');
    link.href = said.dataset.errors;
    link.textContent = 'What it can mean';
    const who = `the administrator of the key sees the exact reason by it. `;
    return say('bad', `${answer.status} ${body.error ?? ''}: ${told}. Request ${id ?? 'unknown'}; ${who}`, link);
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
  getToken().catch((error) => say('bad', error instanceof Told ? error.message : 'The token could not be made.'));
});
field('forget').addEventListener('click', forget);
addEventListener('pagehide', forget);

/** What the gateway asks of a token for messages. */
const SCOPES = {
  'svc-fhir': 'system/*.read',
  'svc-hl7-http': 'system/Patient.write system/Observation.write system/DocumentReference.write',
};
field('audience').addEventListener('change', () => {
  const { value } = field('scope');
  if (Object.values(SCOPES).includes(value)) field('scope').value = SCOPES[field('audience').value] ?? value;
});
