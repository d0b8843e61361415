/** POST to the root: a Bundle of requests. */
import { Fault } from '../../../shared/fault.ts';
import type { Json } from '../../../shared/json.ts';
import type { SeenRow } from '../../store/resource-seen.ts';
import type { Interaction, Look, RequestContext } from '../interaction.ts';
import { lookFor, type Patch } from '../patch/patch.ts';
import { prepareBatch } from './batch.ts';
import { type Entry, readBundle } from './entries.ts';
import { planPatch } from './plan-entry.ts';
import { prepareTransaction } from './transaction.ts';

/** The patches among the entries; what is none is refused with its entry. */
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

/** @throws Fault for what is no such Bundle, or for a transaction with an entry that cannot be done */
export async function prepareBundle(context: RequestContext, content: Json): Promise<Interaction | Look> {
  const { type, entries } = readBundle(content, context.root);
  const prepare = (seen: ReadonlyMap<Entry, readonly SeenRow[]>): Promise<Interaction> =>
    type === 'batch' ? prepareBatch(context, entries, seen) : prepareTransaction(context, entries, seen);
  const patches = patchesOf(context, entries);
  if (patches.length === 0) return prepare(new Map());
  return lookFor(
    context,
    type,
    patches.map(({ patch }) => patch),
    (seen) => prepare(new Map(patches.map(({ entry }, n) => [entry, seen[n] ?? []]))),
  );
}
