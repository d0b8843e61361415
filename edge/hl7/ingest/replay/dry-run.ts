/** The workbench's dry run: the effects of a message, without storing it. */
import { Fault } from '../../../../shared/fault.ts';
import type { AckError } from '../../../../shared/hl7/ack.ts';
import type { ApplicationCode } from '../../../../shared/hl7/error-code.ts';
import { isJsonObject, type JsonObject, parseJson, printJson } from '../../../../shared/json.ts';
import { uuidv7 } from '../../../../shared/uuid.ts';
import type { Deps } from '../../../deps.ts';
import { sha256Of } from '../../../http/crypto.ts';
import { needOfShown } from '../../../http/memory.ts';
import { wasSent } from '../../../store/hl7.ts';
import { inSite } from '../../../store/in-site.ts';
import { parseStored } from '../../../store/resource.ts';
import { decide } from '../decide.ts';
import { byReference, differences, type ResourceDifference } from '../../../store/resource-differences.ts';
import type { Change } from '../../rules/apply.ts';
import { previewDecision } from '../ingest.ts';
import { chosenRules, type Which } from './rules-of-key.ts';
import { cutMessage, withData } from '../cut-documents.ts';
import { load, loadForMerge, type Loaded, type Received } from '../snapshot/load.ts';
import type { Attempt } from '../commit.ts';

export interface DryRun {
  readonly outcome: ApplicationCode;
  readonly ack: Uint8Array | null;
  readonly findings: readonly AckError[];
  /**
   * The resources that the message would create or change, without version. New resources would get other ids. If the key has
   * never sent this message, only the message's own values: an invented message must not show stored data of a patient.
   */
  readonly resources: readonly JsonObject[];
  /** The differences to the stored resources, if the key has sent this message; else null. */
  readonly changes: readonly ResourceDifference[] | null;
  /** The fields of the message that the rules of the key changed. */
  readonly ruleChanges: readonly Change[];
}

/** Gives the resources the id of the stored patient, if there is one. The workbench already shows that the patient exists. */
function asOfPatient(own: readonly JsonObject[], real: readonly JsonObject[]): readonly JsonObject[] {
  const [from, ...others] = patientIds(own);
  const [to, ...more] = patientIds(real);
  if (from === undefined || to === undefined || others.length + more.length > 0) return own;
  return own.map((resource) => {
    const text = parseJson(printJson(resource).replaceAll(from, to));
    return isJsonObject(text) ? text : resource;
  });
}

const patientIds = (resources: readonly JsonObject[]): string[] =>
  resources.flatMap(({ resourceType, id }) => (resourceType === 'Patient' && typeof id === 'string' ? [id] : []));

const LINE_ENDS = ['\r', '\n', '\r\n'];

/** Hashes of the bytes, and of those with other line ends: a message copied from a screen is still the same message. */
async function hashesOf(bytes: Uint8Array): Promise<string[]> {
  // A byte is a character, so that the character set does not matter.
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  const lines = text.split(/\r\n|\r|\n/);
  while (lines.at(-1) === '') lines.pop();
  const texts = LINE_ENDS.flatMap((end) => [lines.join(end), `${lines.join(end)}${end}`]);
  return Promise.all([text, ...texts].map((one) => sha256Of(Uint8Array.from(one, (c) => c.charCodeAt(0)))));
}

/**
 * Processes these bytes as if the key sent them now, for the first time, over HTTP.
 *
 * @param deps with a database that audits the access
 * @param which the rules of the key that count
 * @throws Fault `not-found` for a key of another site
 */
export async function dryRun(
  deps: Pick<Deps, 'config' | 'database' | 'now' | 'share'>,
  key: { readonly site: string; readonly clientId: string },
  bytes: Uint8Array,
  requestId: string,
  which: Which = 'live',
): Promise<DryRun> {
  const { site, clientId } = key;
  await deps.share().reserve(site, needOfShown(bytes));
  const received: Received = {
    sender: { kind: 'key', site, clientId, by: null, shown: { action: 'workbench', messageId: null } },
    ...(await cutMessage(bytes, Infinity)),
    rules: await chosenRules(deps.database, key, which),
  };
  const loaded = await load(deps, received);
  if (loaded.status === 'no-sender') throw new Fault('not-found', 'no such API key');
  const [sent] = await inSite(deps.database, site).run(wasSent(key, loaded.identity, await hashesOf(bytes)));
  const attempt: Attempt = { messageId: uuidv7(deps.now()), why: 'received', actor: null, jobId: null };
  const request = { requestId, source: { kind: 'http', address: '' } } as const;
  const decided = (by: Loaded) => previewDecision(deps, by, attempt, request);
  const first = await decided(loaded);
  const more = first.decision.effects.merges.length === 0 ? undefined : await loadForMerge(deps, received, loaded);
  const { input, decision } = more?.status === 'loaded' ? await decided(more) : first;
  const { outcome, ack, findings, effects } = decision;
  const answer = { outcome, ack, findings, ruleChanges: input.reading.ruled?.changes ?? [] };
  const resources = effects.resources.map((resource) => withData(resource, received.documents));
  if (sent?.was_sent === true) {
    const known = byReference(input.found.map(({ resource }) => parseStored(resource)));
    return { ...answer, resources, changes: differences(known, effects.resources) };
  }
  if (effects.resources.length === 0) return { ...answer, resources: [], changes: null };
  const own = asOfPatient(decide({ ...input, found: [], patients: [] }).effects.resources, effects.resources);
  return { ...answer, resources: own.map((resource) => withData(resource, received.documents)), changes: null };
}
