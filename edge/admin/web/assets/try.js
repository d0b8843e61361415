/*
 * Checks a message, and shows the rejected requests and the check list of a key, with the secret of a link or an access token.
 * The secret is sent only to the two addresses of the form. The page stores nothing, and clears its content when it is left.
 */
import { checkView } from './try-check.js';
import { counted } from './try-elements.js';
import { refusalsView } from './try-refusals.js';

const byId = (id) => document.getElementById(`try-${id}`);
const form = byId('form');
const secret = byId('secret');
const message = byId('message');
const file = byId('file');
const result = byId('result');
const said = byId('said');
const TIMEOUT_MS = 60_000;

/** An error with a text for the reader. */
class ShownError extends Error {}

function say(tone, ...parts) {
  said.className = tone === '' ? '' : `notice ${tone}`;
  said.replaceChildren(...parts);
}

/* Errors */

/** A URL with `#link_…`, a header line or a text broken by a mail program is understood too. */
function secretOf(text) {
  const given = text
    .trim()
    .replace(/^Bearer\s+/i, '')
    .replaceAll(/\s+/g, '');
  const found = given.slice(given.indexOf('#') + 1);
  if (found === '') throw new ShownError('Enter the secret of the link, or an access token.');
  if (!/^[\x21-\x7e]+$/.test(found)) {
    throw new ShownError('The secret has a character that no secret has. Copy the secret again.');
  }
  return found;
}

/** @param details the gateway's own reason */
function explain(status, details, { isLink, retryAfter }) {
  switch (status) {
    case 401:
      return isLink
        ? `The gateway rejects this link: ${details}. Ask the administrator for a new link.`
        : `The gateway rejects this token: ${details}. Get a new token, or ask the administrator for a link.`;
    case 403:
      return `The access token does not allow this: ${details}.`;
    case 413:
      return `The message is too large: ${details}.`;
    case 429:
      return `Too many requests: ${details}. Wait ${retryAfter ?? 60} seconds, and try again.`;
    default:
      return status >= 500
        ? `The gateway cannot answer now: ${details}. Try again later.`
        : `The gateway rejects the request: ${details}.`;
  }
}

/** Problem details, or an error of OAuth; its sentence without the final dot. */
function reasonOf({ detail, error_description: description, title, error }) {
  const reason = String(detail ?? description ?? title ?? error ?? 'it gave no reason');
  return reason.endsWith('.') ? reason.slice(0, -1) : reason;
}

async function call(address, options, { signal, authorization }) {
  const answer = await fetch(address, {
    ...options,
    headers: { ...options.headers, Authorization: authorization },
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch((error) => {
    const { host } = new URL(address);
    throw new ShownError(
      error.name === 'TimeoutError'
        ? `${host} did not answer within ${TIMEOUT_MS / 1000} seconds. Try again later.`
        : `This page cannot reach ${host}. Check your connection, and whether a proxy blocks the address.`,
    );
  });
  const body = await answer.json().catch(() => undefined);
  if (answer.ok && typeof body === 'object' && body !== null) return body;
  const requestId = answer.headers.get('x-request-id');
  const text = explain(answer.status, reasonOf(body ?? {}), {
    isLink: authorization.startsWith('Bearer link_'),
    retryAfter: answer.headers.get('retry-after'),
  });
  throw new ShownError(`${text}${requestId === null ? '' : ` Request ${requestId}.`}`);
}

/** Line feeds of a text area are the segments' ends. */
const bytesOf = (pasted) => new TextEncoder().encode(pasted.replace(/^\s+/, '').replaceAll(/\r\n|\n/g, '\r'));

async function messageToSend() {
  const [chosen] = file.files;
  if (chosen === undefined && message.value.trim() === '') throw new ShownError('Paste a message, or choose its file.');
  const size = chosen?.size ?? bytesOf(message.value).length;
  const most = Number(form.dataset.maxBytes);
  // The gateway may close the connection while the browser still sends, which looks like a failed network.
  if (size > most) {
    throw new ShownError(
      `The message is too large: it has ${counted(size, 'byte')}, and a check accepts ${counted(most, 'byte')} at most.`,
    );
  }
  if (chosen === undefined) return bytesOf(message.value);
  return chosen.arrayBuffer().catch(() => {
    throw new ShownError('The file cannot be read. Choose it again.');
  });
}

async function check(asker) {
  const body = await messageToSend();
  const headers = { 'Content-Type': 'text/plain' };
  const checked = await call(`${form.dataset.check}?ticketCopy=true`, { method: 'POST', headers, body }, asker);
  return checkView(checked);
}

async function listRefusals(asker) {
  const listed = await call(form.dataset.refusals, { method: 'GET' }, asker);
  return refusalsView(listed);
}

/* The form */

let asked = new AbortController();

/** A request ends the one before it, so that an earlier answer never shows with a later secret. */
function begin() {
  asked.abort();
  asked = new AbortController();
  result.replaceChildren();
  return asked.signal;
}

async function ask(doing, request) {
  const signal = begin();
  say('plain', doing);
  try {
    const authorization = `Bearer ${secretOf(secret.value)}`;
    const shown = await request({ signal, authorization });
    if (signal.aborted) return;
    result.replaceChildren(...shown);
    say('');
    result.querySelector('h2').scrollIntoView({ block: 'nearest' });
  } catch (error) {
    if (signal.aborted) return;
    result.replaceChildren();
    say('bad', error instanceof ShownError ? error.message : 'The page cannot show the answer. Load the page again.');
  }
}

function forget() {
  begin();
  form.reset();
  say('');
}

/** The secret leaves the address bar, where other people could read or copy it. */
function takeFragment() {
  const [, given] = /^#(link_[\w-]+)/.exec(location.hash) ?? [];
  if (given === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  begin();
  secret.value = given;
  say('plain', 'The secret of your link is in the form.');
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (form.dataset.check !== undefined) void ask('Checking the message …', check);
});
byId('refusals')?.addEventListener('click', () => void ask('Loading …', listRefusals));
// One message only: what is chosen last.
file?.addEventListener('change', () => (message.value = ''));
message?.addEventListener('input', () => (file.value = ''));
takeFragment();
addEventListener('hashchange', takeFragment);
addEventListener('pagehide', forget);
