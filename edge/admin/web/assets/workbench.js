/*
 * Makes links to the content of the form. The content is in the fragment, which browsers send to no server. A link to an
 * assertion leaves out its signature, so that it cannot be used as a credential. Without this script there are no links.
 */
const form = document.querySelector('[data-bench]');
const text = document.getElementById('pasted');
const place = document.getElementById('permalink');
const said = document.getElementById('permalink-said');
const MAX_LENGTH = 16_000;
const MARK = '#w1.';

const through = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

async function pack(value) {
  const packed = await through(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream('deflate-raw'));
  let binary = '';
  for (const byte of packed) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'))));
}

const withoutSignature = (assertion) => assertion.trim().replace(/^([^.]*\.[^.]*)\..*$/s, '$1.');

async function linkTo() {
  const { bench } = form.dataset;
  const given = bench === 'assertion' ? withoutSignature(text.value) : text.value;
  const key = form.elements.clientId?.value;
  const packed = await pack(key === undefined ? { text: given } : { text: given, clientId: key });
  return new URL(`${form.getAttribute('action')}${MARK}${packed}`, location.href).href;
}

async function copy() {
  const link = await linkTo();
  if (link.length > MAX_LENGTH) {
    said.textContent = `Too long for a link: ${link.length} characters, ${MAX_LENGTH} at most. Send it as a file.`;
    return;
  }
  await navigator.clipboard.writeText(link);
  said.textContent = `Copied, ${link.length} characters.`;
}

async function fillIn() {
  if (!location.hash.startsWith(MARK)) return;
  const packed = location.hash.slice(MARK.length);
  // Removes the content from the address, and so from the browser's history.
  history.replaceState(null, '', location.pathname + location.search);
  const { text: given, clientId } = await unpack(packed);
  if (typeof given !== 'string') throw new TypeError('the link has no text');
  text.value = given;
  const keys = form.elements.clientId;
  if (keys !== undefined && [...keys.options].some(({ value }) => value === clientId)) keys.value = clientId;
  said.textContent = 'Filled in from the link; nothing has been sent yet.';
}

place.hidden = false;
place.querySelector('button').addEventListener('click', () => {
  copy().catch(() => (said.textContent = 'Not copied.'));
});
fillIn().catch(() => (said.textContent = 'The link is not valid: it was truncated, or is from another release.'));
addEventListener('hashchange', () => {
  fillIn().catch(() => (said.textContent = 'The link is not valid.'));
});
