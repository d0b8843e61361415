/** A stored message mapped again, when what made it fail was put right: what that would change, and doing it. */
import { Fault } from '../../../../shared/fault.ts';
import type { AckError } from '../../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../../shared/hl7/error-code.ts';
import type { AuditBy } from '../../../store/audit.ts';
import { inSite } from '../../../store/in-site.ts';
import { bytesOfHex, storedMessage } from '../../../store/hl7.ts';
import { parseStored } from '../../../store/resource.ts';
import { sha256Of } from '../../../http/crypto.ts';
import { decide, type DecisionInput } from '../decide.ts';
import { byReference, differences, type ResourceDifference } from '../../../store/resource-differences.ts';
import { decisionInput, processMessage, type IngestDeps, type Ingested, type IngestRequest } from '../ingest.ts';
import type { Attempt } from '../commit.ts';
import type { Sender } from '../sender/sender.ts';
import { load } from '../snapshot/load.ts';

/** What a replay would do. */
export interface ReplayPreview {
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  /** What would be applied; nothing where the message would be refused. */
  readonly changes: readonly ResourceDifference[];
  /** Ids of patients all of whose data would go to another. */
  readonly merges: readonly { readonly from: string; readonly to: string }[];
  /** What else would change if it were applied although newer data exist; none where nothing of it is stale. */
  readonly stale: readonly ResourceDifference[];
}

/**
 * @param deps whose database leaves a row of the audit for what is shown
 * @throws Fault `not-found` when the site has no such message, `conflict` when its bytes are kept no longer
 */
export async function previewReplay(
  deps: IngestDeps,
  site: string,
  messageId: string,
  requestId: string,
): Promise<ReplayPreview> {
  const request = await requestOf(deps, site, messageId, requestId, {
    by: null,
    shown: { action: 'message-viewed', messageId },
  });
  const { sender, bytes } = request;
  const loaded = await load(deps, { sender, bytes, sha256: await sha256Of(bytes) });
  if (loaded.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  const input = (why: Attempt['why']): DecisionInput =>
    decisionInput(deps, loaded, { messageId, why, actor: null, jobId: null }, request);
  const { outcome, ack, findings, effects } = decide(input('replayed'));
  const known = byReference(loaded.found.map(({ resource }) => parseStored(resource)));
  const changes = differences(known, effects.resources);
  const isStale = findings.some(({ reason }) => reason === STALE);
  const forced = isStale ? decide(input('forced')).effects.resources : [];
  // What is created has another id each time it is decided about, and is never stale.
  const rest = differences(byReference(effects.resources), forced).filter(({ change }) => change === 'changed');
  return { outcome, ack, findings, changes, merges: effects.merges, stale: rest };
}

/** The reason of the finding that something newer is known. */
const STALE = 'stale';

/** Who asks for a replay, and why. */
export interface Replay extends Omit<Attempt, 'messageId'> {
  readonly by: AuditBy;
}

/**
 * Maps a stored message again, with today's settings; the outcome and ACK hold from now on, those of the attempts before
 * are kept. A retransmission gets the first AA.
 *
 * @param attempt who asks for it and why: `replayed` leaves alone what is newer, `forced` does not, `retried` does nothing
 *   when the message was accepted meanwhile
 * @throws Fault `not-found` when the site has no such message, `conflict` when its bytes are kept no longer
 */
export async function reprocess(
  deps: IngestDeps,
  site: string,
  messageId: string,
  { by, ...attempt }: Replay,
  requestId: string,
): Promise<Ingested> {
  const request = await requestOf(deps, site, messageId, requestId, { by, shown: null });
  const ingested = await processMessage(deps, request, { messageId, ...attempt });
  if (ingested.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  return ingested;
}

/** The message as it came. */
async function requestOf(
  { database }: IngestDeps,
  site: string,
  messageId: string,
  requestId: string,
  asker: Pick<Extract<Sender, { kind: 'key' }>, 'by' | 'shown'>,
): Promise<IngestRequest> {
  const [message] = await inSite(database, site).run(storedMessage(site, messageId));
  if (message === undefined) throw new Fault('not-found', 'no such message');
  if (message.raw === null) {
    throw new Fault('conflict', 'the bytes of this message are kept no longer, so it cannot be replayed');
  }
  return {
    sender: { kind: 'key', site, clientId: message.client_id, ...asker },
    bytes: bytesOfHex(message.raw),
    source: { kind: message.source, address: message.source_address },
    requestId,
  };
}
