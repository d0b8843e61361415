/**
 * `POST /hl7/messages` (edge/docs/behaviour.md, HL7 v2, HL7 over HTTP): one message in, its ACK out, or a batch of them. It lists the
 * checks in their order; `ingest/ingest.ts` processes the message. `POST /hl7/check` only checks a message (`ingest/check.ts`).
 */
import type { Context } from 'hono';

import { Fault } from '../../../shared/fault.ts';
import { salvageHeader, type Header } from '../../../shared/hl7/header.ts';
import type { Deps } from '../../deps.ts';
import { AFTER_THE_WINDOW, FAULT_STATUS, faultOf } from '../../http/fault-status.ts';
import { limitLinks, presentedLink } from '../../http/key-link.ts';
import { needOf, needOfShown } from '../../http/memory.ts';
import { letReferenceCall } from '../../http/reference-cors.ts';
import { noteAnswer, type NoteRefusal } from '../../http/refusals.ts';
import { problem } from '../../http/problem.ts';
import { createSurface, type GatewayEnv, type Surface } from '../../http/surface.ts';
import type { AnsweredMessage, CountUse } from '../../http/usage.ts';
import { challengeOf, type Caller, authenticate, requireScopes, withAllowedScopes } from '../../oauth/bearer.ts';
import { checkMessage, type Checked } from '../ingest/check.ts';
import { cutMessage, type CutMessage, takeMessage } from '../ingest/cut-documents.ts';
import { ingest, type Ingested, type Isolate } from '../ingest/ingest.ts';
import { readMessageBytes, TooLong } from '../ingest/message-bytes.ts';
import { headersOf, isBatch, messagesOf, type BatchHeaders } from './batch.ts';
import { replyToBatch } from './batch-reply.ts';
import { refusalReason, refusalOfFault } from '../ingest/refusal-reason.ts';
import { MEDIA_TYPES, mediaTypeOf, replyTo, replyToFault, statusOf } from './reply.ts';

const PATH = '/hl7/messages';
const CHECK_PATH = '/hl7/check';

/** Required of every token (edge/docs/behaviour.md, HL7 v2, HL7 over HTTP). */
const REQUIRED_SCOPES = ['system/Patient.write', 'system/Observation.write', 'system/DocumentReference.write'];

type Sent =
  | { readonly kind: 'message'; readonly message: CutMessage }
  | {
      readonly kind: 'batch';
      readonly header: Header;
      readonly headers: BatchHeaders;
      readonly messages: readonly CutMessage[] | Fault;
    };

function readTicketCopy(asked: string | undefined): boolean {
  if (asked === undefined || asked === 'true' || asked === 'false') return asked === 'true';
  throw new Fault('invalid', 'ticketCopy must be true or false.');
}

function requireMediaType(request: Request): string {
  const type = mediaTypeOf(request);
  if (type !== undefined) return type;
  const message = `Content-Type must be one of ${MEDIA_TYPES.join(', ')}.`;
  throw new Fault('unsupported-media-type', message, { headers: { 'Accept-Post': MEDIA_TYPES.join(', ') } });
}

/** Reads one message, whose documents count for the limit too: they return in the answer. */
async function readToCheck(
  { config, gzip, share }: Pick<Deps, 'config' | 'gzip' | 'share'>,
  request: Request,
  site: string,
): Promise<Uint8Array> {
  const bytes = await share().read(site, async (expect) => {
    const read = await readMessageBytes(gzip, request, config.HL7_MAX_TEXT_BYTES, expect, 'HL7_MAX_TEXT_BYTES');
    await share().reserve(site, needOfShown(read));
    return read;
  });
  if (isBatch(bytes)) throw new Fault('invalid', 'A batch cannot be checked. Send one message, which begins with MSH.');
  return bytes;
}

/** A separate function, so that the bytes of documents are not kept in memory beside their text. */
async function readSent(
  { config, gzip, share }: Pick<Deps, 'config' | 'gzip' | 'share'>,
  request: Request,
  site: string,
): Promise<Sent> {
  const { HL7_MAX_MESSAGE_BYTES: maxBytes, HL7_MAX_TEXT_BYTES: maxTextBytes } = config;
  const bytes = await share().read(site, async (expect) => {
    const read = await readMessageBytes(gzip, request, maxBytes, expect);
    await share().reserve(site, needOf('hl7', read));
    return read;
  });
  if (!isBatch(bytes)) return { kind: 'message', message: await takeMessage(bytes, maxTextBytes) };
  const batch = { kind: 'batch', header: salvageHeader(bytes), headers: headersOf(bytes) } as const;
  const parts = messagesOf(bytes);
  if (parts instanceof Fault) return { ...batch, messages: parts };
  const messages: CutMessage[] = [];
  for (const part of parts) messages.push(await cutMessage(part, maxTextBytes));
  return { ...batch, messages };
}

/** The answer to a check as JSON; it is the console's view, and no slice imports another. */
export type ViewCheck = (checked: Checked, bytes: Uint8Array, withTicketCopy: boolean) => unknown;

/** Checks the token and the media type. */
async function admit(
  deps: Deps,
  c: Context<GatewayEnv>,
  messages: AnsweredMessage[],
): Promise<[caller: Caller, type: string]> {
  const request = c.req.raw;
  const caller = await authenticate(deps, request, 'svc-hl7-http', (site, clientId) => {
    c.set('use', { site, clientId, messages });
  });
  requireScopes(caller, REQUIRED_SCOPES);
  return [caller, requireMediaType(request)];
}

/** Does the work of a message with the scopes that its key still allows. @throws Fault `forbidden` without the required ones */
const withRequiredScopes = <Done>(caller: Caller, work: (allowed: Caller) => Promise<Done>): Promise<Done> =>
  withAllowedScopes({ ...caller, scopes: new Set(REQUIRED_SCOPES) }, async (allowed) => {
    requireScopes(allowed, REQUIRED_SCOPES);
    return work(allowed);
  });

function addCheck(app: Surface, deps: Deps, viewCheck: ViewCheck): void {
  // The bucket of tokens: a person checks a message, not a feed.
  const limitChecks = async (clientId: string): Promise<void> => {
    if (await deps.rateLimiter.allow('token-client', `check ${clientId}`)) return;
    throw new Fault('throttled', 'too many checks with this API key', { headers: AFTER_THE_WINDOW });
  };
  app.post(CHECK_PATH, async (c) => {
    const request = c.req.raw;
    const requestId = c.get('requestId');
    const sender = (await presentedLink(request)) ?? (await admit(deps, c, []))[0];
    if ('linkId' in sender) {
      await limitLinks(deps, request);
      requireMediaType(request);
    } else await limitChecks(sender.clientId);
    const withTicketCopy = readTicketCopy(c.req.query('ticketCopy'));
    const bytes = await readToCheck(deps, request, sender.site);
    const message = await cutMessage(bytes, Infinity);
    const checked = await ('linkId' in sender
      ? checkMessage(deps, { kind: 'link', link: sender }, message, requestId, () => limitChecks(sender.clientId))
      : withRequiredScopes(sender, (caller) => checkMessage(deps, { kind: 'caller', caller }, message, requestId)));
    return new Response(JSON.stringify(viewCheck(checked, bytes, withTicketCopy)), {
      headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
    });
  });
}

function addMessages(app: Surface, deps: Deps, isolate: Isolate, noteRefusal: NoteRefusal | undefined): void {
  app.post(PATH, async (c) => {
    const request = c.req.raw;
    const requestId = c.get('requestId');
    const messages: AnsweredMessage[] = [];
    const [caller, type] = await admit(deps, c, messages);
    const { site, clientId } = caller;
    const source = { kind: 'http', address: deps.sourceAddress(request) } as const;
    const receive = async (message: CutMessage): Promise<Ingested> => {
      const ingested = await withRequiredScopes(caller, (allowed) =>
        ingest({ ...deps, ...isolate }, { ...message, sender: { kind: 'caller', caller: allowed }, source, requestId }),
      );
      // The key of a valid token was deleted since.
      if (ingested.status === 'no-sender')
        throw new Fault('unauthenticated', 'the API key is not active', { code: 'invalid_token' });
      messages.push(ingested);
      if (ingested.outcome !== 'AA') {
        noteAnswer(c, noteRefusal, source.address, statusOf(ingested), refusalReason(ingested.refusedFor));
      }
      deps.log({ level: 'info', event: 'hl7.message', requestId, clientId, site, detail: ingested.outcome });
      return ingested;
    };
    const sent = await readSent(deps, request, site);
    if (sent.kind === 'message') return replyTo(await receive(sent.message), type);
    const { header, headers, messages: batch } = sent;
    if (batch instanceof Fault) {
      // The codes of table 0357 are for messages, which are stored.
      const reason = { ...refusalOfFault(batch), code: batch.code ?? batch.kind };
      noteAnswer(c, noteRefusal, source.address, FAULT_STATUS[batch.kind], reason);
      return replyToFault(batch, type, deps.now(), requestId, header);
    }
    // In their order: several may be about one patient. If one cannot be stored, the rest waits, and the sender sends the batch
    // again. The accepted messages then get their ACK again and change nothing.
    const ingested: Ingested[] = [];
    for (const message of batch) ingested.push(await receive(message));
    return replyToBatch(headers, ingested, type, deps.now());
  });
}

export function createHl7(
  deps: Deps,
  isolate: Isolate,
  viewCheck: ViewCheck,
  countUse?: CountUse,
  noteRefusal?: NoteRefusal,
): Surface {
  const app = createSurface(deps, 'hl7', deps.config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL, countUse);
  for (const path of [PATH, CHECK_PATH]) letReferenceCall(app, path, deps.config, ['POST']);
  addCheck(app, deps, viewCheck);
  addMessages(app, deps, isolate, noteRefusal);
  for (const path of [PATH, CHECK_PATH]) {
    app.all(path, () => {
      throw new Fault('method-not-allowed', 'Send messages with POST.', { headers: { Allow: 'POST' } });
    });
  }

  app.notFound((c) =>
    replyToFault(
      new Fault('not-found', `This path does not exist. Send messages to ${PATH}.`),
      'text/plain',
      deps.now(),
      c.get('requestId'),
    ),
  );

  app.onError((error, c) => {
    const requestId = c.get('requestId');
    const { fault: thrown, header } = error instanceof TooLong ? error : { fault: error, header: undefined };
    const fault = faultOf(thrown, deps.log, 'hl7', requestId);
    const type = mediaTypeOf(c.req.raw) ?? 'text/plain';
    const status = fault === undefined ? 500 : FAULT_STATUS[fault.kind];
    noteAnswer(c, noteRefusal, deps.sourceAddress(c.req.raw), status, refusalOfFault(fault));
    if (c.req.path.endsWith(CHECK_PATH)) {
      return problem(fault, requestId, fault && challengeOf(fault));
    }
    if (fault !== undefined) return replyToFault(fault, type, deps.now(), requestId, header);
    return new Response('internal error\n', { status: 500, headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
  });

  return app;
}
