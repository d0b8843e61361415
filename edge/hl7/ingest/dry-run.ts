/** What would become of a message, without storing anything: for the administrator's workbench. */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { sha256Of } from '../../http/crypto.ts';
import { decide } from './decide.ts';
import { decisionInput } from './ingest.ts';
import { locate } from './locate.ts';
import type { Entry } from './store.ts';

export interface DryRun {
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  /** What would be created or changed, without version; ids of new resources are not those they will get. */
  readonly resources: readonly JsonObject[];
}

/**
 * As if the key sent these bytes now, for the first time, over HTTP.
 *
 * @throws Fault `not-found` for a key of another site
 */
export async function dryRun(
  deps: Pick<Deps, 'config' | 'database' | 'now'>,
  key: { readonly site: string; readonly clientId: string },
  bytes: Uint8Array,
  requestId: string,
): Promise<DryRun> {
  const { site, clientId } = key;
  const located = await locate(deps.database, {
    sender: { kind: 'key', site, clientId },
    bytes,
    sha256: await sha256Of(bytes),
  });
  if (located.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  const entry: Entry = { messageId: uuidv7(deps.now()), why: 'received', actor: null, jobId: null };
  const { outcome, ack, findings, effects } = decide(
    decisionInput(deps, located, entry, { requestId, source: { kind: 'http', address: '' } }),
  );
  return { outcome, ack, findings, resources: effects.resources };
}
