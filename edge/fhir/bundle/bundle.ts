/** POST to the root: a Bundle of requests. */
import type { Json } from '../../../shared/json.ts';
import type { Interaction, RequestContext } from '../interaction.ts';
import { prepareBatch } from './batch.ts';
import { readBundle } from './entries.ts';
import { prepareTransaction } from './transaction.ts';

/** @throws Fault for what is no such Bundle, or for a transaction with an entry that cannot be done */
export async function prepareBundle(context: RequestContext, content: Json): Promise<Interaction> {
  const { type, entries } = readBundle(content, context.root);
  return type === 'batch' ? prepareBatch(context, entries) : prepareTransaction(context, entries);
}
