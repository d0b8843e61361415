/*
 * Checks a message, and shows the rejected requests and the check list of a key, with the secret of a link or an access token.
 * The secret is sent only to the two addresses of the form. The page stores nothing, and clears its content when it is left.
 * Received texts become text nodes, never markup.
 */
import { shortPathOf } from '../../../../shared/hl7/value.ts';

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

/** @param properties properties of the element, and its attributes as `attributes` */
function make(tag, { attributes = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

const counted = (count, one) => `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
const badge = (tone, text) => make('span', { className: `badge ${tone}` }, text);
const notice = (tone, ...children) => make('div', { className: `notice ${tone}` }, ...children);
const quiet = (text) => make('p', { className: 'quiet' }, text);
const when = (at) =>
  make('time', { dateTime: at, title: at }, new Date(at).toLocaleString(undefined, { timeZoneName: 'short' }));

function say(tone, ...parts) {
  said.className = tone === '' ? '' : `notice ${tone}`;
  said.replaceChildren(...parts);
}

/** As the tables of the console: on a phone each row is a card, headed by its first cell. */
const table = (label, head, rows) =>
  make(
    'div',
    { className: 'table', tabIndex: 0, attributes: { role: 'group', 'aria-label': label } },
    make(
      'table',
      {},
      make('thead', {}, make('tr', {}, ...head.map((title) => make('th', { scope: 'col' }, title)))),
      make(
        'tbody',
        {},
        ...rows.map(({ cells: [first, ...cells], className = '' }) =>
          make(
            'tr',
            {},
            make('th', { scope: 'row' }, make('div', {}, first)),
            ...cells.map((cell, at) => {
              const held = [cell].flat().filter((each) => each !== null && each !== '');
              const isLast = at === cells.length - 1;
              return make(
                'td',
                { className: isLast ? className : '', attributes: { 'data-label': head[at + 1] } },
                ...(held.length === 0 ? [] : [make('div', {}, ...held)]),
              );
            }),
          ),
        ),
      ),
    ),
  );

const code = (label, text) =>
  make(
    'div',
    { className: 'code' },
    make('pre', { tabIndex: 0, attributes: { role: 'group', 'aria-label': label } }, make('code', {}, text)),
    make(
      'button',
      { type: 'button', className: 'small', attributes: { 'data-copy': text, 'aria-label': `Copy ${label}` } },
      'Copy',
    ),
  );

const section = (title, ...children) => make('section', {}, make('h2', {}, title), ...children);

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

/* The check of a message */

const SEVERITIES = { E: ['bad', 'error'], W: ['warn', 'warning'], I: ['plain', 'information'] };
const severityOf = ({ severity = '' }) => badge(...(SEVERITIES[severity] ?? ['plain', severity]));
const inOrder = (findings) =>
  findings.toSorted((one, other) => 'EWI'.indexOf(one.severity) - 'EWI'.indexOf(other.severity));

const findingTable = (findings) =>
  table(
    'Errors and warnings',
    ['Where', 'Severity', 'Code', 'Reason', 'What'],
    inOrder(findings).map((finding) => ({
      cells: [
        make('code', {}, finding.at === undefined ? 'message' : shortPathOf(finding.at)),
        severityOf(finding),
        finding.code ?? '',
        make('code', {}, finding.reason ?? ''),
        finding.message ?? '',
      ],
    })),
  );

const faults = (findings) =>
  findings.length === 0
    ? null
    : make(
        'ul',
        { className: 'plain wrong' },
        ...findings.map((finding) => make('li', {}, severityOf(finding), ` ${finding.message ?? ''}`)),
      );

/** A value may hold a whole document. */
const MAX_SHOWN = 2000;
const shortened = (value) =>
  value.length <= MAX_SHOWN ? value : `${value.slice(0, MAX_SHOWN)} … (${counted(value.length, 'character')})`;

const more = (count, one) => (count === 0 ? null : quiet(`${counted(count, `more ${one}`)} are not listed.`));

const componentList = (components) =>
  make(
    'dl',
    { className: 'components' },
    ...components.map(({ number, name, value }) =>
      make('div', {}, make('dt', {}, `${number} ${name ?? ''}`), make('dd', {}, shortened(value))),
    ),
  );

function valueOf({ value, repetitions, moreRepetitions, findings }) {
  const shown =
    value === ''
      ? make('span', { className: 'quiet' }, 'not sent')
      : repetitions.length === 0
        ? make('code', { className: 'sent' }, shortened(value))
        : repetitions.length === 1
          ? componentList(repetitions[0])
          : make('ol', { className: 'repetitions' }, ...repetitions.map((each) => make('li', {}, componentList(each))));
  return [shown, more(moreRepetitions, 'repetition'), faults(findings)];
}

function toneOf(findings) {
  const [worst] = findings.map(({ severity = '' }) => severity).sort();
  return worst === 'E' ? 'value faulty bad' : worst === 'W' ? 'value faulty warn' : 'value';
}

function segmentView({ id, name, fields, moreFields, findings }, at) {
  const serious = [...findings, ...fields.flatMap((field) => field.findings)].filter(
    ({ severity }) => severity !== 'I',
  );
  const tone = serious.some(({ severity }) => severity === 'E') ? 'bad' : 'warn';
  return make(
    'details',
    { open: at < 4 || serious.length > 0 },
    make(
      'summary',
      {},
      make('code', {}, id),
      ` ${name ?? 'not in the table of segments'} `,
      serious.length === 0 ? null : badge(tone, counted(serious.length, 'finding')),
    ),
    faults(findings),
    table(
      `Segment ${at + 1}, ${id}`,
      ['Field', 'Name', 'Value'],
      fields.map((field) => ({
        cells: [make('code', {}, field.path), field.name ?? '', valueOf(field)],
        className: toneOf(field.findings),
      })),
    ),
    more(moreFields, 'field'),
  );
}

const OUTCOMES = {
  AA: ['good', 'The gateway would accept this message.'],
  AE: ['bad', 'The gateway would reject this message with an error.'],
  AR: ['bad', 'The gateway would reject this message.'],
};

function showCheck({
  outcome,
  problem,
  errors,
  ack,
  segments,
  moreSegments,
  resources,
  moreResources,
  ticketCopy,
  judgedAs,
}) {
  const [tone, verdict] = OUTCOMES[outcome];
  result.replaceChildren(
    section(
      'Verdict',
      notice(
        tone,
        make('p', {}, badge(tone, outcome), ` ${verdict}`),
        problem === null ? null : make('p', {}, problem),
        judgedAs === 'empty-site'
          ? make(
              'p',
              {},
              'It was judged as in a site without patients and earlier messages. In your site the answer can differ.',
            )
          : null,
      ),
    ),
    section(
      'Errors and warnings',
      errors.length === 0 ? quiet('The message has no errors and no warnings.') : findingTable(errors),
    ),
    ...(ack === null ? [] : [section('ACK', code('the ACK', ack))]),
    section(
      'Message',
      make('div', { className: 'segments' }, ...segments.map(segmentView)),
      segments.length === 0 ? quiet('The message has no segments that can be read.') : null,
      more(moreSegments, 'segment'),
    ),
    section(
      'Resources',
      resources.length === 0 ? quiet('The message would create no resources.') : null,
      ...resources.map((resource, at) =>
        make(
          'details',
          {},
          make('summary', {}, make('code', {}, resource.resourceType)),
          code(`resource ${at + 1}, ${resource.resourceType}`, JSON.stringify(resource, null, 2)),
        ),
      ),
      more(moreResources, 'resource'),
    ),
    ...(ticketCopy === null
      ? []
      : [
          section(
            'Copy for a ticket',
            make(
              'p',
              {},
              'The copy has the same faults, and invented names, identifiers, addresses, texts and dates. Read it before you send it.',
            ),
            code('the scrubbed message', ticketCopy),
          ),
        ]),
  );
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
  return () => showCheck(checked);
}

/* Rejected requests and the check list */

const SURFACES = { token: 'Token', fhir: 'FHIR', hl7: 'HL7 over HTTP', mllp: 'HL7 over MLLP' };

function showRefusals({ refusals, checkList: { steps, types } }) {
  result.replaceChildren(
    section(
      'Rejected and failed requests',
      refusals.length === 0
        ? quiet('No request was rejected. A request is in the list after some seconds.')
        : table(
            'Rejected and failed requests',
            ['Last time', 'Answer', 'Requests', 'Reason', 'Next step'],
            refusals.map(({ surface, answer, outcome, code: check, reason, hint, requests, lastAt, requestId }) => ({
              cells: [
                when(lastAt),
                [badge(outcome === 'failed' ? 'bad' : 'warn', answer), ` ${SURFACES[surface] ?? surface}`],
                requests.toLocaleString('en'),
                [make('p', {}, reason || check), make('small', {}, `${check}, request ${requestId}`)],
                hint ?? '',
              ],
            })),
          ),
    ),
    section(
      'Go-live check list',
      quiet(`${steps.filter(({ done }) => done).length} of ${steps.length} seen`),
      table(
        'Go-live check list',
        ['Step', 'Seen', 'Next'],
        steps.map(({ title, done, at, todo }) => ({
          cells: [
            title,
            [done ? badge('good', '✓ yes') : badge('plain', 'not yet'), ' ', at === null ? null : when(at)],
            todo ?? '',
          ],
        })),
      ),
      types.length === 0
        ? null
        : table(
            'Types of the newest 1,000 messages',
            ['Type', 'Accepted', 'Rejected', 'Last'],
            types.map(({ type, accepted, rejected, lastAt }) => ({
              cells: [type || 'unreadable', `${accepted}`, `${rejected}`, when(lastAt)],
            })),
          ),
    ),
  );
}

async function listRefusals(asker) {
  const listed = await call(form.dataset.refusals, { method: 'GET' }, asker);
  return () => showRefusals(listed);
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
    const show = await request({ signal, authorization });
    if (signal.aborted) return;
    show();
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
