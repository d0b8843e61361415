/**
 * Checks a message for its sender: the decision as in a site without patients and without other API keys. Nothing is stored.
 * Nothing about a patient, a message or another key is loaded, so neither the answer nor its time depends on them.
 */
import { Fault } from '../../../shared/fault.ts';
import type { AckError } from '../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../shared/hl7/error-code.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import { withData, type CutMessage } from './cut-documents.ts';
import { previewDecision } from './ingest.ts';
import type { Sender } from './sender/sender.ts';
import { loadAlone } from './snapshot/load.ts';

export interface Checked {
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  /** The resources that the message would create, with invented ids. */
  readonly resources: readonly JsonObject[];
  /** The character set of a message that names none. */
  readonly charset: string;
  /** The site's own placeholder identifiers, in capitals. */
  readonly placeholders: ReadonlySet<string>;
}

/**
 * @param admit called when the sender is verified
 * @throws Fault `unauthenticated` for a key that is not active
 */
export async function checkMessage(
  deps: Pick<Deps, 'config' | 'database' | 'now'>,
  sender: Sender,
  message: CutMessage,
  requestId: string,
  admit: () => Promise<void> = () => Promise.resolve(),
): Promise<Checked> {
  const loaded = await loadAlone(deps, { ...message, sender });
  if (loaded.status === 'no-sender')
    throw new Fault('unauthenticated', 'the API key is not active', { code: 'invalid_token' });
  await admit();
  const attempt = { messageId: uuidv7(deps.now()), why: 'received', actor: null, jobId: null } as const;
  const source = { kind: 'http', address: '' } as const;
  const { decision } = await previewDecision(deps, loaded, attempt, { requestId, source });
  const { outcome, ack, findings, effects } = decision;
  const resources = effects.resources.map((resource) => withData(resource, message.documents));
  const { placeholders } = loaded.settings;
  return { outcome, ack, findings, resources, charset: loaded.reading.opened.assumedCharset, placeholders };
}
