/** A stored message mapped again, for the administrator, when what made it fail was put right. */
import { Fault } from '../../../shared/fault.ts';
import { bytesOfHex, storedMessage } from '../../store/hl7.ts';
import { takeTurns, type IngestDeps, type Ingested } from './ingest.ts';

/**
 * Maps a stored message again, with today's settings; the outcome and ACK hold from now on, those of the attempts before
 * are kept. A retransmission gets the first AA.
 *
 * @param actor who asks for it
 * @throws Fault `not-found` when the site has no such message
 */
export async function reprocess(
  deps: IngestDeps,
  site: string,
  messageId: string,
  actor: string,
  requestId: string,
): Promise<Ingested> {
  const [message] = await deps.database.run(storedMessage(site, messageId));
  if (message === undefined) throw new Fault('not-found', 'no such message');
  const request = {
    sender: { kind: 'key', site, clientId: message.client_id },
    bytes: bytesOfHex(message.raw),
    source: { kind: message.source, address: message.source_address },
    requestId,
  } as const;
  const ingested = await takeTurns(deps, request, { messageId, why: 'replayed', actor });
  if (ingested.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  return ingested;
}
