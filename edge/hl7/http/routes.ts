/**
 * `POST /hl7/messages` (edge/docs/behaviour.md, HL7 v2, HL7 over HTTP): one message in, its ACK out, or a batch of them. It lists the
 * checks in their order; `ingest/ingest.ts` processes the message.
 */
import { Fault } from '../../../shared/fault.ts';
import { salvageHeader, type Header } from '../../../shared/hl7/header.ts';
import type { Deps } from '../../deps.ts';
import { FAULT_STATUS, faultOf } from '../../http/fault-status.ts';
import { needOf } from '../../http/memory.ts';
import { letReferenceCall } from '../../http/reference-cors.ts';
import { noteAnswer, type NoteRefusal } from '../../http/refusals.ts';
import { createSurface, type Surface } from '../../http/surface.ts';
import type { AnsweredMessage, CountUse } from '../../http/usage.ts';
import { authenticate, requireScopes, withAllowedScopes } from '../../oauth/bearer.ts';
import { cutMessage, type CutMessage, takeMessage } from '../ingest/cut-documents.ts';
import type { SnapshotCache } from '../ingest/snapshot/cache.ts';
import { ingest, type Ingested } from '../ingest/ingest.ts';
import { readMessageBytes, TooLong } from '../ingest/message-bytes.ts';
import { headersOf, isBatch, messagesOf, type BatchHeaders } from './batch.ts';
import { replyToBatch } from './batch-reply.ts';
import { refusalReason, refusalOfFault } from '../ingest/refusal-reason.ts';
import { MEDIA_TYPES, mediaTypeOf, replyTo, replyToFault, statusOf } from './reply.ts';

const PATH = '/hl7/messages';

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

/** @param snapshots the isolate's, shared with the messages of sidecars */
export function createHl7(
  deps: Deps,
  snapshots: SnapshotCache,
  countUse?: CountUse,
  noteRefusal?: NoteRefusal,
): Surface {
  const app = createSurface(deps, 'hl7', deps.config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL, countUse);

  letReferenceCall(app, PATH, deps.config, ['POST']);
  app.post(PATH, async (c) => {
    const request = c.req.raw;
    const requestId = c.get('requestId');
    const messages: AnsweredMessage[] = [];
    const caller = await authenticate(deps, request, 'svc-hl7-http', (site, clientId) => {
      c.set('use', { site, clientId, messages });
    });
    const { site, clientId } = caller;
    requireScopes(caller, REQUIRED_SCOPES);
    const type = mediaTypeOf(request);
    if (type === undefined) {
      const message = `Content-Type must be one of ${MEDIA_TYPES.join(', ')}.`;
      throw new Fault('unsupported-media-type', message, { headers: { 'Accept-Post': MEDIA_TYPES.join(', ') } });
    }
    const source = { kind: 'http', address: deps.sourceAddress(request) } as const;
    const receive = async (message: CutMessage): Promise<Ingested> => {
      const ingested = await withAllowedScopes({ ...caller, scopes: new Set(REQUIRED_SCOPES) }, async (allowed) => {
        requireScopes(allowed, REQUIRED_SCOPES);
        return ingest(
          { ...deps, snapshots },
          { ...message, sender: { kind: 'caller', caller: allowed }, source, requestId },
        );
      });
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

  app.all(PATH, () => {
    throw new Fault('method-not-allowed', 'Send messages with POST.', { headers: { Allow: 'POST' } });
  });

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
    if (fault !== undefined) return replyToFault(fault, type, deps.now(), requestId, header);
    return new Response('internal error\n', { status: 500, headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
  });

  return app;
}
