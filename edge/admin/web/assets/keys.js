/*
 * The form of an API key. Makes a key pair in the browser, and checks a JWKS URI while it is typed. Opens the sections that a
 * protocol needs. Everything else works without this script.
 */
const byId = (id) => document.getElementById(id);
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');

/** The parameters of each algorithm, and the members of its public JWK (RFC 7638 §3.2). */
const KINDS = {
  ES384: { algorithm: { name: 'ECDSA', namedCurve: 'P-384' }, members: ['crv', 'kty', 'x', 'y'] },
  RS384: {
    algorithm: {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 3072,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-384',
    },
    members: ['e', 'kty', 'n'],
  },
};

/** Makes a pair: the public JWK, and the private key as PKCS #8 in PEM (RFC 7468 §10). */
async function makePair(alg) {
  const { algorithm, members } = KINDS[alg];
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const exported = await crypto.subtle.exportKey('jwk', publicKey);
  const jwk = Object.fromEntries(members.map((name) => [name, exported[name]]));
  const kid = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(jwk))));
  const der = new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey));
  const lines = btoa(String.fromCharCode(...der)).match(/.{1,64}/g);
  const pem = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
  return { jwk: { ...jwk, kid, alg, use: 'sig' }, pem };
}

/** Saves a text as a file. The page does not keep or send it. */
function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/x-pem-file' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The keys in the field; undefined if it has another text. */
function keysIn(text) {
  if (text.trim() === '') return [];
  try {
    const { keys } = JSON.parse(text);
    return Array.isArray(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}

function addMaker(maker) {
  const [button, kind, said] = ['button', 'select', '[role="status"]'].map((part) => maker.querySelector(part));
  const field = byId('jwks');
  const uri = byId('jwksUri');
  let made;
  const say = (text) => {
    said.textContent = text;
  };
  maker.hidden = false;
  button.addEventListener('click', async () => {
    if (!isSecureContext || crypto.subtle === undefined) {
      say(
        'A browser makes keys only on pages with https or on the local machine. Make them with openssl: ' +
          'openssl ecparam -name secp384r1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out private.pem, ' +
          'then paste the output of openssl pkey -in private.pem -pubout.',
      );
      return;
    }
    const keys = keysIn(field.value);
    if (keys === undefined) {
      say('The field has another text than a JWKS: empty it first.');
      return;
    }
    button.disabled = true;
    say('Making the key pair …');
    try {
      const { jwk, pem } = await makePair(kind.value);
      // A second pair replaces the first one; earlier keys stay, for a rotation.
      const earlier = keys.filter(({ kid }) => kid !== made);
      // The client may still need the file of the earlier key.
      const file = earlier.length === 0 ? 'private.pem' : `private-${jwk.kid.slice(0, 8)}.pem`;
      save(file, pem);
      field.value = JSON.stringify({ keys: [...earlier, jwk] }, null, 2);
      made = jwk.kid;
      const both = uri?.value.trim() ? ' Clear the JWKS URI: a key has one or the other.' : '';
      say(
        `Your private key was saved as ${file}: give it only to the client, there is no second copy. ` +
          `Its public key, ${jwk.kid}, is in the field above.${both}`,
      );
    } catch {
      say('This browser cannot make such a key: choose the other kind, or use openssl.');
    } finally {
      button.disabled = false;
    }
  });
}

const TYPING_ENDS_MS = 600;

function addChecker(said) {
  const field = byId('jwksUri');
  let timer;
  let asked = new AbortController();
  const say = (tone, lines) => {
    said.className = `check ${tone}`;
    said.replaceChildren(...lines.map((line) => Object.assign(document.createElement('span'), { textContent: line })));
  };
  const report = ({ acceptable, problems, jwksFindings: { unreachable, keys } }) => {
    if (!acceptable) return say('bad', problems);
    if (unreachable !== null)
      return say('warn', [`The JWKS URI could not be loaded: ${unreachable}. It can be saved nevertheless.`]);
    const found = keys.map(
      ({ kid, type, size, usable, reason }) =>
        `${kid ?? 'a key without kid'}: ${type}${size > 0 ? `, ${size} bit` : ''}, ${usable ? 'can be used' : reason}`,
    );
    return say('good', ['The JWKS has these keys:', ...found]);
  };
  const check = async () => {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    const jwksUri = field.value.trim();
    if (jwksUri === '') return say('', []);
    say('', ['Loading …']);
    try {
      const answer = await fetch(said.dataset.checkUri, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jwksUri }),
        signal,
      });
      if (answer.ok) return report(await answer.json());
      say('', [answer.status === 429 ? 'Too many checks in a minute: saving checks it again.' : '']);
    } catch {
      if (!signal.aborted) say('', []);
    }
  };
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void check(), TYPING_ENDS_MS);
  });
}

function addFolds(folds) {
  const boxes = [...document.querySelectorAll('input[name="protocols"]')];
  const follow = ({ target }) => {
    if (!target.checked) return;
    for (const fold of folds) if (fold.dataset.opensFor.split(' ').includes(target.value)) fold.open = true;
  };
  for (const box of boxes) box.addEventListener('change', follow);
}

for (const maker of document.querySelectorAll('[data-make-key]')) addMaker(maker);
for (const said of document.querySelectorAll('[data-check-uri]')) addChecker(said);
addFolds([...document.querySelectorAll('[data-opens-for]')]);
