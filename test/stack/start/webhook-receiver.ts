/**
 * The receiver of alerts and of notifications in the local stack. It checks each signature as a receiver of Standard Webhooks does,
 * and shows what arrived on a page. One port has both: https for the gateway, http for the reader's browser, which does not know the
 * local authority.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';

import { makeAuthority } from '../services/certificate.ts';
import { KEEP_ALIVE_MS } from '../services/keep-alive.ts';

export interface WebhookReceiver {
  /** The address to enter as a site's webhook. */
  readonly webhook: string;
  /** The page. */
  readonly pageUrl: string;
  /** PEM of the authority that the gateway must trust. */
  readonly authority: string;
  stop(): Promise<void>;
}

interface Notice {
  readonly at: string;
  readonly path: string;
  /** Why the signature does not hold; undefined if it does. */
  readonly problem: string | undefined;
  readonly body: string;
}

export interface ReceiverOptions {
  readonly port: number;
  /** The secrets, `whsec_…`, of alerts and of a Subscription, as the console shows them. */
  readonly secretsOf: (what: 'alerts' | { readonly subscription: string }) => Promise<readonly string[]>;
  /** Gets a line for each post. */
  readonly log: (line: string) => void;
}

const MAX_NOTICES = 100;
/** A notification has 1 MiB of resources, except for a larger one alone. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Characters of a post on the page. */
const MAX_SHOWN = 20_000;
/** Older or newer ones may be replays. */
const TOLERANCE_SECONDS = 300;
/** The first byte of a TLS handshake. */
const TLS_HANDSHAKE = 0x16;

const headerOf = ({ headers }: IncomingMessage, name: string): string => String(headers[name] ?? '');

function problemOf(request: IncomingMessage, body: string, secrets: readonly string[]): string | undefined {
  const [id, timestamp] = [headerOf(request, 'webhook-id'), headerOf(request, 'webhook-timestamp')];
  const given = headerOf(request, 'webhook-signature').split(' ');
  if (id === '' || timestamp === '') return 'it has no webhook-id or webhook-timestamp';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS))
    return 'its time is not within five minutes';
  const isSigned = secrets.some((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const expected = Buffer.from(
      `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
    );
    return given.some((text) => text.length === expected.length && timingSafeEqual(Buffer.from(text), expected));
  });
  return isSigned ? undefined : 'the signature is not of this gateway';
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  let body = '';
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > MAX_BODY_BYTES) return undefined;
  }
  return body;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

const shownOf = (body: string): string => {
  const text = pretty(body);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}\n…`;
};

const pageOf = (origin: string, notices: readonly Notice[]): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="3"><title>Received webhooks</title><style>
:root { color-scheme: light dark; }
body { margin: 1.5rem auto; padding: 0 1rem; max-width: 46rem; font: 16px/1.5 system-ui, sans-serif; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid; border-radius: 8px; font-size: 0.85rem; }
code { overflow-wrap: anywhere; }
</style></head><body><h1>Received webhooks</h1>
<p>The local stack's receiver of alerts at <code>${escaped(origin)}/alerts</code>, and of notifications of Subscriptions at
<code>${escaped(origin)}/notifications</code>. The page shows the newest first, and is loaded again every three seconds.</p>
${
  notices.length === 0
    ? `<p>Nothing yet. In the console, open Alerts, then “Webhook: signature and test”, and choose “Send a test”. Or open Subscriptions: a
subscription needs an API key with the subscription host <code>${escaped(origin.replace('https://', ''))}</code>.</p>`
    : notices
        .map(
          ({ at, path, problem, body }) => `<h2>${at} ${escaped(path)}</h2>
<p>${problem === undefined ? 'Signature verified.' : `Rejected: ${escaped(problem)}.`}</p>
<pre tabindex="0">${escaped(shownOf(body))}</pre>`,
        )
        .join('\n')
}</body></html>`;

export async function startWebhookReceiver({ port, secretsOf, log }: ReceiverOptions): Promise<WebhookReceiver> {
  const authority = makeAuthority();
  const { certificate, privateKey } = authority.issue(['127.0.0.1']);
  const origin = `https://127.0.0.1:${port}`;
  const notices: Notice[] = [];

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url: path = '' } = request;
    if (method !== 'POST' || (path !== '/alerts' && path !== '/notifications'))
      return void response.writeHead(404).end();
    const body = await bodyOf(request);
    if (body === undefined) return void response.writeHead(413).end();
    // The id of a notification begins with that of its Subscription.
    const [subscription = ''] = headerOf(request, 'webhook-id').split('.');
    const problem = problemOf(request, body, await secretsOf(path === '/alerts' ? 'alerts' : { subscription }));
    notices.unshift({ at: new Date().toISOString(), path, problem, body });
    notices.splice(MAX_NOTICES);
    log(
      problem === undefined
        ? `a post to ${path} arrived, its signature is verified`
        : `a post to ${path} was rejected: ${problem}`,
    );
    response.writeHead(problem === undefined ? 204 : 401).end();
  };
  const tls = { cert: certificate, key: privateKey };
  const overTls = createTlsServer({ ...tls, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  const overHttp = createServer(({ method }, response) => {
    // A post needs TLS.
    if (method !== 'GET') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    response.end(pageOf(origin, notices));
  });
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
    socket.once('data', (first) => {
      socket.pause();
      socket.unshift(first);
      const isTls = first[0] === TLS_HANDSHAKE;
      (isTls ? overTls : overHttp).emit('connection', socket);
      // TLS reads what is buffered by itself.
      if (!isTls) socket.resume();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    webhook: `${origin}/alerts`,
    pageUrl: `http://127.0.0.1:${port}`,
    authority: authority.certificate,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
