/*
 * What the form of an API key cannot do by itself: make a key pair whose private half stays here, look at a JWKS URI while it
 * is typed, and open the parts of the form that a protocol needs. Without it everything else still works.
 */
const byId = (id) => document.getElementById(id);
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/** How keys of each algorithm are made, and which members of the JWK are the public key (RFC 7638 §3.2). */
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

/** A new pair: its public JWK, and its private half as a file's content (PKCS #8 in PEM, RFC 7468 §10). */
async function makePair(alg) {
  const { algorithm, members } = KINDS[alg];
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const whole = await crypto.subtle.exportKey('jwk', publicKey);
  const jwk = Object.fromEntries(members.map((name) => [name, whole[name]]));
  const kid = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(jwk))));
  const der = new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey));
  const lines = btoa(String.fromCharCode(...der)).match(/.{1,64}/g);
  const pem = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
  return { jwk: { ...jwk, kid, alg, use: 'sig' }, pem };
}

/** Hands a text to the reader as a file. It goes nowhere else, and nothing of it stays in the page. */
function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/x-pem-file' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The keys that the field has; undefined where it holds something that is no JWKS. */
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
        'A browser makes keys on pages that come by https (or from this very machine) only, and this one does not. ' +
          'Make them on your own machine: openssl ecparam -name secp384r1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out private.pem, ' +
          'then openssl pkey -in private.pem -pubout, and paste what that prints.',
      );
      return;
    }
    const keys = keysIn(field.value);
    if (keys === undefined) {
      say('The field holds something else than a JWKS: empty it first.');
      return;
    }
    button.disabled = true;
    say('Making it …');
    try {
      const { jwk, pem } = await makePair(kind.value);
      save('private.pem', pem);
      // A second press replaces what the first has made; keys that were there before stay, for a rotation.
      field.value = JSON.stringify({ keys: [...keys.filter(({ kid }) => kid !== made), jwk] }, null, 2);
      made = jwk.kid;
      const both = uri?.value.trim() ? ' Clear the JWKS URI: a key has one or the other.' : '';
      say(
        `The private half was saved as private.pem: give it to the client and to nobody else, it cannot be had again. ` +
          `The public half, ${jwk.kid}, is in the field above.${both}`,
      );
    } catch {
      say('This browser could not make such a key: choose the other kind, or make it with openssl.');
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
  const tell = ({ acceptable, problems, jwksFindings: { unreachable, keys } }) => {
    if (!acceptable) return say('bad', problems);
    if (unreachable !== null)
      return say('warn', [`It cannot be used now: ${unreachable}. It can be saved all the same.`]);
    const found = keys.map(
      ({ kid, type, size, usable, reason }) =>
        `${kid ?? 'a key without a kid'}: ${type}${size > 0 ? `, ${size} bit` : ''}, ${usable ? 'can be used' : reason}`,
    );
    return say('good', ['The JWKS was found there:', ...found]);
  };
  const check = async () => {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    const jwksUri = field.value.trim();
    if (jwksUri === '') return say('', []);
    say('', ['Looking …']);
    try {
      const answer = await fetch(said.dataset.checkUri, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jwksUri }),
        signal,
      });
      if (answer.ok) return tell(await answer.json());
      say('', [answer.status === 429 ? 'Too many looks in a minute: it is looked at when you save.' : '']);
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
