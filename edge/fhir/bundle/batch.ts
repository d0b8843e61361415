/**
 * batch (FHIR R4 http, 3.1.0.11.1): each entry is answered as a separate request would be, all in one database call.
 * Entries cannot refer to each other.
 */
import { Fault } from '../../../shared/fault.ts';
import type { JsonObject } from '../../../shared/json.ts';
import type { LookupRow } from '../../store/resource-lookup.ts';
import { type BatchRow, type Transaction, writeBatch } from '../../store/transaction.ts';
import {
  type Answer,
  auditedTogether,
  type Interaction,
  type RequestContext,
  type RowsOf,
  searchedBy,
} from '../interaction.ts';
import { locksOf, planWrite, type PlannedWrite } from '../plan-write.ts';
import { requireDone } from '../refused-write.ts';
import { present, rowAnswer } from '../run-write.ts';
import { hasString } from '../strings.ts';
import { localMatches } from './conditions.ts';
import { type Entry, inTurn, readQueries } from './entries.ts';
import { planEntry } from './plan-entry.ts';
import { answerEntry, faultEntry, responseBundle } from './response.ts';

/** A prepared entry; the Fault is the answer to an entry that cannot be prepared. */
type Prepared =
  | { readonly kind: 'write'; readonly planned: PlannedWrite }
  | { readonly kind: 'read'; readonly interaction: Interaction }
  | { readonly kind: 'fault'; readonly fault: Fault };

/**
 * @param made the `urn:` URLs of the entries that create a resource
 * @throws Fault `invalid` for a reference to one of them, which R4 does not allow and which would stay as it is
 */
function requireNoLink(resource: JsonObject, made: ReadonlySet<string>): JsonObject {
  if (!hasString(resource, (member, text) => member === 'reference' && made.has(text))) return resource;
  const message = 'an entry of a batch cannot refer to another entry: send a transaction';
  throw new Fault('invalid', message, { code: 'not-supported' });
}

async function prepareEntry(
  context: RequestContext,
  entry: Entry,
  found: readonly LookupRow[] | undefined,
  made: ReadonlySet<string>,
): Promise<Prepared> {
  try {
    const plan = await planEntry(context, entry, found);
    if (plan.kind === 'read') return plan;
    return { kind: 'write', planned: planWrite(context, plan.checked, (resource) => requireNoLink(resource, made)) };
  } catch (fault) {
    if (fault instanceof Fault) return { kind: 'fault', fault };
    throw fault;
  }
}

/** A conditional create also finds what the entries before it create, because entries run in order. */
function unitsOf({ budget }: RequestContext, writes: readonly PlannedWrite[]): Transaction[] {
  return writes.map(({ write, condition }, index) => ({
    writes: [write],
    conditions:
      condition === null ? [] : [{ ...condition, local: localMatches(condition, writes.slice(0, index), budget) }],
  }));
}

function writtenAnswer(context: RequestContext, planned: PlannedWrite, rows: readonly BatchRow[]): Answer {
  const origin = { type: planned.type, at: null, isPatch: planned.isPatch };
  requireDone(rows, [origin], () => origin);
  const found = rows.find((row) => row.part === 'condition')?.id ?? null;
  const resolved = new Map(found === null ? [] : [[planned.write.id, found]]);
  return rowAnswer(context, planned, present(rows.find((row) => row.part === 'row')), resolved);
}

/** @param written the rows of each write */
async function entryText(
  context: RequestContext,
  prepared: Prepared,
  rowsOf: RowsOf,
  written: ReadonlyMap<PlannedWrite, readonly BatchRow[]>,
): Promise<string> {
  try {
    switch (prepared.kind) {
      case 'fault':
        return faultEntry(prepared.fault);
      case 'read':
        return answerEntry(await prepared.interaction.answer(rowsOf));
      case 'write':
        return answerEntry(writtenAnswer(context, prepared.planned, written.get(prepared.planned) ?? []));
    }
  } catch (fault) {
    if (fault instanceof Fault) return faultEntry(fault);
    throw fault;
  }
}

/**
 * @param found the resources that the patches among the entries change
 * @param room the bytes of the resources that its reads answer
 */
export async function prepareBatch(
  context: RequestContext,
  entries: readonly Entry[],
  found: ReadonlyMap<Entry, readonly LookupRow[]>,
  room: number,
): Promise<Interaction> {
  const made = new Set(
    entries.flatMap(({ method, fullUrl }) => (method === 'POST' && fullUrl?.startsWith('urn:') ? [fullUrl] : [])),
  );
  const all = await inTurn(entries, (entry) => prepareEntry(context, entry, found.get(entry), made));
  const writes = all.flatMap((one) => (one.kind === 'write' ? [one.planned] : []));
  const reads = all.flatMap((one) => (one.kind === 'read' ? [one.interaction] : []));
  const writing =
    writes.length === 0 ? undefined : writeBatch(context.caller.site, unitsOf(context, writes), locksOf(writes));
  return {
    audited: auditedTogether('batch', [...reads.map(searchedBy), ...writes.map(({ searched }) => searched)]),
    queries: [...(writing?.queries ?? []), ...readQueries(reads, room)],
    answer: async (rowsOf) => {
      const rows = writing === undefined ? [] : rowsOf(writing.written);
      const byUnit = Map.groupBy(rows, ({ entry }) => entry);
      const written = new Map(writes.map((planned, n) => [planned, byUnit.get(n) ?? []]));
      return responseBundle('batch', await inTurn(all, (one) => entryText(context, one, rowsOf, written)));
    },
  };
}
