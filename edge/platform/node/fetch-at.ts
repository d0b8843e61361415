/**
 * Requests an https URL at addresses that were checked before. The name is not resolved again, so that a second DNS answer
 * cannot redirect the request (OWASP, DNS rebinding). Host, SNI and certificate use the name. It is for Node and Deno, whose
 * `fetch` cannot connect to a given address. Redirects are not followed.
 */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP } from 'node:net';

export interface FetchAtInit {
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Statuses whose response has no body (Fetch, null body status). */
const WITHOUT_BODY = [204, 205, 304];

/** Reads only on demand; the connection ends when the reader stops. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = incoming[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    cancel: () => void incoming.destroy(),
  });
}

function toResponse(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return new Response(WITHOUT_BODY.includes(status) ? null : bodyOf(incoming), { status, headers });
}

/**
 * @param addresses at least one; tried in order
 * @throws the connection's error: no address, no connection, a certificate for another name
 */
export function fetchAt(
  addresses: readonly string[],
  url: string,
  { method = 'GET', headers, body, signal }: FetchAtInit,
): Promise<Response> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        headers,
        signal,
        // A new connection, since an existing one may lead to another address.
        agent: false,
        lookup: (_name, options, done) => {
          const [first] = found;
          if (options.all === true || first === undefined) done(null, found);
          else done(null, first.address, first.family);
        },
      },
      (incoming) => {
        try {
          resolve(toResponse(incoming));
        } catch (error) {
          incoming.destroy();
          reject(error);
        }
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
