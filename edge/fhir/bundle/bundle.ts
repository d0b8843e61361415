/** POST to the root: a Bundle of requests. */
import { Fault } from '../../../shared/fault.ts';
import type { Json } from '../../../shared/json.ts';
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

/** @throws Fault for anything but such a Bundle, or for a transaction with an entry that cannot run */
export async function prepareBundle(context: RequestContext, content: Json): Promise<Interaction | Lookup> {
  const { type, entries } = readBundle(content, context.root);
  const prepare = type === 'batch' ? prepareBatch : prepareTransaction;
  const patches = patchesOf(context, entries);
  if (patches.length === 0) return prepare(context, entries, new Map());
  return lookUpPatched(
    context,
    type,
    patches.map(({ patch }) => patch),
    (attempt, found) => prepare(attempt, entries, new Map(patches.map(({ entry }, n) => [entry, found[n] ?? []]))),
  );
}
