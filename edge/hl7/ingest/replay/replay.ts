/** Replays a stored message after the cause of its failure was fixed, and previews the changes. */
import { Fault } from '../../../../shared/fault.ts';
import type { AckError } from '../../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../../shared/hl7/error-code.ts';
import { needOf, needOfShown } from '../../../http/memory.ts';
import type { AuditBy } from '../../../store/audit.ts';
import { inSite } from '../../../store/in-site.ts';
import { bytesOfHex, storedMessage, type StoredMessageRow } from '../../../store/hl7.ts';
import { parseStored } from '../../../store/resource.ts';
import { storedDocuments } from '../cut-documents.ts';
import { decide } from '../decide.ts';
import { REQUEST_LIMITS, withLimits } from '../../../store/time-limits.ts';
import { byReference, differences, type ResourceDifference } from '../../../store/resource-differences.ts';
import {
  decisionInput,
  previewDecision,
  processMessage,
  type IngestDeps,
  type Ingested,
  type IngestRequest,
} from '../ingest.ts';
import type { Attempt } from '../commit.ts';
import type { Sender } from '../sender/sender.ts';
import { load, loadAlone } from '../snapshot/load.ts';
import type { Change } from '../../rules/apply.ts';
import { chosenRules, rulesOfVersion, type Which } from './rules-of-key.ts';

export interface ReplayPreview {
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  /** The changes; none if the message would be rejected. */
  readonly changes: readonly ResourceDifference[];
  /** Ids of patients whose data would move to another. */
  readonly merges: readonly { readonly from: string; readonly to: string }[];
  /** Further changes if it were forced although newer data is stored; none without stale data. */
  readonly stale: readonly ResourceDifference[];
  /** The version of the key's rules by which it would be read; null without rules. */
  readonly rulesVersion: number | null;
}

/**
 * @param deps with a database that audits the access
 * @param which the rules of the key that count
 * @throws Fault `not-found` if the site has no such message, `conflict` if its bytes were deleted
 */
export async function previewReplay(
  deps: IngestDeps,
  site: string,
  messageId: string,
  requestId: string,
  which: Which = 'live',
): Promise<ReplayPreview> {
  const shown = { action: 'message-viewed', messageId } as const;
  const request = await storedRequest(deps, site, messageId, requestId, { by: null, shown });
  const rules = await chosenRules(deps.database, request.sender, which);
  const first = await load(deps, { ...request, rules });
  if (first.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  const attempt = (why: Attempt['why']): Attempt => ({ messageId, why, actor: null, jobId: null });
  const { loaded, decision } = await previewDecision(deps, first, attempt('replayed'), request);
  const { outcome, ack, findings, effects } = decision;
  const known = byReference(loaded.found.map(({ resource }) => parseStored(resource)));
  const changes = differences(known, effects.resources);
  const isStale = findings.some(({ reason }) => reason === STALE);
  const forced = isStale ? decide(decisionInput(deps, loaded, attempt('forced'), request)).effects.resources : [];
  // New resources have another id in each decision, and are never stale.
  const rest = differences(byReference(effects.resources), forced).filter(({ change }) => change === 'changed');
  const { rulesVersion } = loaded.reading;
  return { outcome, ack, findings, changes, merges: effects.merges, stale: rest, rulesVersion };
}

/**
 * The fields of a stored message that a version of its key's rules changed.
 *
 * @throws Fault `not-found` if the site has no such message, `conflict` if its bytes were deleted
 */
export async function ruleChanges(
  deps: IngestDeps,
  site: string,
  messageId: string,
  version: number,
  requestId: string,
): Promise<readonly Change[]> {
  const request = await storedRequest(deps, site, messageId, requestId, { by: null, shown: null });
  const rules = await rulesOfVersion(deps.database, request.sender, version);
  const loaded = await loadAlone(deps, { ...request, rules });
  if (loaded.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  return loaded.reading.ruled?.changes ?? [];
}

/** The reason of the finding that newer data is stored. */
const STALE = 'stale';

/** The attempt, and the person or job that started it. */
export interface Replay extends Omit<Attempt, 'messageId'> {
  readonly by: AuditBy;
}

/**
 * Processes a stored message again with the current settings. The new outcome and ACK count from now on; earlier attempts stay.
 * A retransmission gets the first AA.
 *
 * @param attempt `replayed` keeps newer data, `forced` overwrites it, `retried` does nothing if the message was accepted
 *   meanwhile
 * @throws Fault `not-found` if the site has no such message, `conflict` if its bytes were deleted
 */
export async function reprocess(
  given: IngestDeps,
  site: string,
  messageId: string,
  { by, ...attempt }: Replay,
  requestId: string,
): Promise<Ingested> {
  // A job has no more time for a message than its sender had: its one transaction writes.
  const deps = { ...given, database: withLimits(given.database, REQUEST_LIMITS) };
  const request = await storedRequest(deps, site, messageId, requestId, { by, shown: null });
  const ingested = await processMessage(deps, request, { messageId, ...attempt });
  if (ingested.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  return ingested;
}

/**
 * The request of a stored message, to process it again.
 *
 * @throws Fault `not-found` if the site has no such message, `conflict` if its bytes were deleted
 */
async function storedRequest(
  { database, share }: IngestDeps,
  site: string,
  messageId: string,
  requestId: string,
  access: Pick<KeySender, 'by' | 'shown'>,
): Promise<IngestRequest & { readonly sender: KeySender }> {
  const [message] = await inSite(database, site).run(storedMessage(site, messageId));
  if (message === undefined) throw new Fault('not-found', 'no such message');
  if (message.raw === null) {
    throw new Fault('conflict', 'The bytes of this message were deleted, so it cannot be replayed.');
  }
  const stored = requestOf(site, { ...message, raw: message.raw }, requestId, access);
  // A preview shows the effects.
  await share().reserve(site, access.by === null ? needOfShown(stored.bytes) : needOf('hl7', stored.bytes));
  return stored;
}

type KeySender = Extract<Sender, { kind: 'key' }>;

/** The request of a message whose bytes are loaded. */
export function requestOf(
  site: string,
  message: StoredMessageRow & { readonly raw: string },
  requestId: string,
  access: Pick<KeySender, 'by' | 'shown'>,
): IngestRequest & { readonly sender: KeySender } {
  const bytes = bytesOfHex(message.raw);
  return {
    sender: { kind: 'key', site, clientId: message.client_id, ...access },
    bytes,
    sha256: message.sha256,
    documents: message.has_documents ? storedDocuments(bytes) : [],
    source: { kind: message.source, address: message.source_address },
    requestId,
  };
}
