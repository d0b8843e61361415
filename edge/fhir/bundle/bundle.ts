/** POST to the root: a Bundle of requests. */
import { Fault } from '../../../shared/fault.ts';
import type { Json } from '../../../shared/json.ts';
import type { Share } from '../../deps.ts';
import { decodeUtf8 } from '../../http/body.ts';
import { needOf, SMALL_BODY } from '../../http/memory.ts';
import { ANSWER_BYTES, SHORT_ANSWER_BYTES } from '../../store/page.ts';
import type { LookupRow } from '../../store/resource-lookup.ts';
import type { Interaction, Lookup, RequestContext } from '../interaction.ts';
import { lookUpPatched, type Patch } from '../patch/patch.ts';
import { prepareBatch } from './batch.ts';
import { type Entry, readBundle } from './entries.ts';
import { planPatch } from './plan-entry.ts';
import { prepareTransaction } from './transaction.ts';

/** The patches among the entries; an invalid patch is rejected later, with its entry. */
function patchesOf(context: RequestContext, entries: readonly Entry[]): { entry: Entry; patch: Patch }[] {
  return entries.flatMap((entry) => {
    if (entry.method !== 'PATCH') return [];
    try {
      return [{ entry, patch: planPatch(context, entry) }];
    } catch (error) {
      if (error instanceof Fault) return [];
      throw error;
    }
  });
}

/** GET, with escapes of JSON. */
const READS = /"(?:G|\\u0047)(?:E|\\u0045)(?:T|\\u0054)"/;

/** The memory that a Bundle needs. A large Bundle with reads gets as much as a request can: its answer may be large too. */
export function needOfBundle(body: Uint8Array): number {
  const isLarge = body.length > SMALL_BODY && READS.test(decodeUtf8(body));
  return isLarge ? Infinity : needOf('json', body);
}

/**
 * @param bytes the size of the body
 * @throws Fault for anything but such a Bundle, or for a transaction with an entry that cannot run
 */
export async function prepareBundle(
  context: RequestContext,
  content: Json,
  bytes: number,
  share: Share,
): Promise<Interaction | Lookup> {
  const { type, entries } = readBundle(content, context.root);
  const reads = entries.filter(({ method }) => method === 'GET');
  const isMixed = reads.length < entries.length;
  const room = isMixed || bytes > SMALL_BODY ? SHORT_ANSWER_BYTES : ANSWER_BYTES;
  // The answer of writes must not be lost, so the gateway reserves memory for the resources beside them before.
  if (reads.length > 0 && isMixed) await share.reserveAnswer(context.caller.site, room);
  const prepareType = type === 'batch' ? prepareBatch : prepareTransaction;
  const prepare = (attempt: RequestContext, found: ReadonlyMap<Entry, readonly LookupRow[]>) =>
    prepareType(attempt, entries, found, room);
  const patches = patchesOf(context, entries);
  if (patches.length === 0) return prepare(context, new Map());
  return lookUpPatched(
    context,
    type,
    patches.map(({ patch }) => patch),
    (attempt, found) => prepare(attempt, new Map(patches.map(({ entry }, n) => [entry, found[n] ?? []]))),
  );
}
