/** The log of HL7 messages, for the JSON API, the page and the file of it alike. */
import * as z from 'zod';

import type { Database } from '../../deps.ts';
import { addAudit, type AuditActor } from '../../store/audit.ts';
import { inSite } from '../../store/in-site.ts';
import { readPatientText } from '../../store/message-key.ts';
import { messagesElsewhere, type ElsewhereRow } from '../../store/messages-elsewhere.ts';
import {
  MAX_COUNTED,
  MESSAGE_OUTCOMES,
  MESSAGE_RANGES,
  type MessageFilter,
  type MessagePlace,
} from '../../store/message-candidates.ts';
import { listMessages, type ListedRow, sendingKeys, type SendingKeyRow } from '../../store/message-search.ts';
import { fromCursor, INSTANT_PART, toCursor, UUID_PART } from '../api/cursor.ts';
import { instant, requireForward } from '../api/instant.ts';
import { paging } from '../api/operation.ts';
import { readParameter, unmappedParameter } from '../names/parameter.ts';

export const messageFilter = z.strictObject({
  patient: z
    .string()
    .trim()
    .max(200)
    .default('')
    .refine((text) => text === '' || readPatientText(text) !== undefined, 'must have a letter or a digit')
    .meta({
      description:
        'The patient, also of a rejected message. An identifier (PID-3, PID-2, PID-4, MRG-1, MRG-4) is compared completely, ' +
        'ignoring case, blanks, hyphens and leading zeros; it can have its authority (`4711^^^EAST`). Words of a name (PID-5, ' +
        'PID-9, MRG-7) are compared from their start, ignoring case and accents. The audit records the search and the patients shown.',
    }),
  q: z.string().trim().max(200).default('').meta({
    description:
      'Part of the control id, or of the sending application or facility, in any case; or the whole request id of an attempt.',
  }),
  reason: z.string().trim().max(100).default('').meta({
    description:
      'An error or warning: its reason (`ambiguous-patient`), its code of table 0357 (`205`), or its place (`PID-3`, `PID`).',
  }),
  type: z.string().trim().max(20).default('').meta({ description: 'MSH-9 from its start: `ADT`, `ADT^A04`.' }),
  outcome: z
    .enum(['', ...MESSAGE_OUTCOMES])
    .default('')
    .meta({ description: '`errors` are AE and AR, `warnings` the accepted ones with a warning.' }),
  clientId: z.string().max(40).default(''),
  range: z
    .enum(['', ...MESSAGE_RANGES])
    .default('')
    .meta({ description: 'The last hours or days; `today` begins at midnight in the time zone of the site.' }),
  from: instant,
  to: instant,
  unmapped: unmappedParameter,
});

export const messageQuery = messageFilter.extend({
  ...paging,
  withPatients: z
    .enum(['', 'true'])
    .default('')
    .meta({ description: '`true`: each message has its `patient`. The audit records the patients shown.' }),
  newer: z.string().optional().meta({ description: 'The `previous` of a page, for newer messages.' }),
});
type MessageQuery = z.infer<typeof messageQuery>;

/** A page of the log, and what is around it. */
export interface MessageList {
  readonly items: readonly ListedRow[];
  /** Cursors of the pages of older and of newer messages; null at the end. */
  readonly next: string | null;
  readonly previous: string | null;
  /** The number of matches, `MAX_COUNTED` at most; null after the first page. */
  readonly count: number | null;
  readonly isMore: boolean;
  /** It is the page of the newest. */
  readonly isFirst: boolean;
  /** Other matches of the patient or the text; null without both. */
  readonly elsewhere: ElsewhereRow | null;
  /** The keys that have sent messages. */
  readonly keys: readonly SendingKeyRow[];
}

/** The caller, for the audit. */
export interface MessageReader {
  readonly database: Database;
  readonly actor: { readonly site: string };
  readonly auditActor: AuditActor;
}

/**
 * Messages of the site, the newest first. The audit records each search for a patient: the names of the parameters
 * without values, and the patients of the messages that are shown.
 *
 * @throws Fault `malformed` for an invalid cursor, or a time span that ends before it begins
 */
export async function findMessages(
  { database, actor: { site }, auditActor }: MessageReader,
  { limit, cursor, newer, withPatients, ...given }: MessageQuery,
): Promise<MessageList> {
  requireForward(given);
  const filter = filterOf(given);
  const place = placeOf(cursor, newer);
  const isSearch = filter.patient !== null || filter.text !== '';
  const [rows, [elsewhere], keys] = await inSite(database, site).batch([
    listMessages(site, filter, place, limit, withPatients !== ''),
    messagesElsewhere(site, filter.patient ?? readPatientText(filter.text) ?? null, given.patient || given.q),
    sendingKeys(site),
    ...(filter.patient === null ? [] : [addAudit(site, auditActor, { action: 'search', searched: namesOf(given) })]),
  ] as const);
  const isMore = rows.length > limit;
  const items = place?.side === 'newer' && isMore ? rows.slice(1) : rows.slice(0, limit);
  const [first, last] = [items.at(0), items.at(-1)];
  const at = (row: ListedRow | undefined): string | null =>
    row === undefined ? null : toCursor([row.received_at, row.message_id]);
  const total = rows[0]?.total ?? 0;
  return {
    items,
    next: place?.side === 'newer' || isMore ? at(last) : null,
    previous: place === null || (place.side === 'newer' && !isMore) ? null : at(first),
    count: place === null ? Math.min(total, MAX_COUNTED) : null,
    isMore: total > MAX_COUNTED,
    isFirst: place === null,
    elsewhere: isSearch ? (elsewhere ?? null) : null,
    keys,
  };
}

/** The filter of the store. */
function filterOf({ patient, q, unmapped, ...rest }: z.infer<typeof messageFilter>): MessageFilter {
  return { ...rest, text: q, patient: readPatientText(patient) ?? null, unmapped: readParameter(unmapped) };
}

function placeOf(cursor: string | undefined, newer: string | undefined): MessagePlace | null {
  const after = fromCursor(newer, INSTANT_PART, UUID_PART);
  if (after !== null) return { side: 'newer', than: after };
  const than = fromCursor(cursor, INSTANT_PART, UUID_PART);
  return than === null ? null : { side: 'older', than };
}

/** The names of the given parameters. */
const namesOf = (given: object): string[] =>
  Object.entries(given).flatMap(([name, value]) => (value === '' || value === undefined ? [] : [name]));

const MAX_EXPORTED = 10_000;
const EXPORT_ROWS = 500;

/** The messages of a file, page by page, the newest first. Each page of a search for a patient has an audit row. */
export async function* exportMessages(
  looking: MessageReader,
  filter: z.infer<typeof messageFilter>,
): AsyncGenerator<readonly ListedRow[], undefined> {
  let cursor: string | undefined;
  for (let left = MAX_EXPORTED; left > 0; left -= EXPORT_ROWS) {
    const list: MessageList = await findMessages(looking, { ...filter, limit: EXPORT_ROWS, cursor, withPatients: '' });
    yield list.items;
    if (list.next === null) return undefined;
    cursor = list.next;
  }
  return undefined;
}
