/** The trials of rules, which are jobs, and their statements. */
import type { Query } from '../deps.ts';
import { STORED_MESSAGE, type StoredMessageRow } from './hl7.ts';
import type { LiveRules } from './hl7-snapshot.ts';
import { ASKED_JOB, type AskedJob, type NewJob } from './job.ts';
import { raw, read } from './sql.ts';

export const TRIAL_KIND = 'rules-trial';

/** Above it a trial takes longer than ten minutes. */
export const MAX_TRIED = 10_000;

/** A message in the order of receipt. */
export interface Received {
  /** An instant with microseconds. */
  readonly received_at: string;
  readonly message_id: string;
}

/** The newest messages of a key whose bytes are stored: their number, and JSON of the first and the last; null for none. */
export function newestMessages(
  site: string,
  clientId: string,
  count: number,
): Query<{ readonly count: number; readonly first: string | null; readonly last: string | null }> {
  const end = (order: string) =>
    `(select json_build_object('received_at', n.received_at, 'message_id', n.message_id)::text from n
       order by n.received_at ${order}, n.message_id ${order} limit 1)`;
  return read<{ count: number; first: string | null; last: string | null }>`
    with n as materialized (
      select m.received_at, m.message_id from hl7_message m
       where m.site_id = ${site}::uuid and m.client_id = ${clientId} and m.raw is not null
       order by m.received_at desc, m.message_id desc limit ${count}::int)
    select (select count(*) from n)::integer as count, ${raw(end('asc'))} as first, ${raw(end('desc'))} as last`;
}

/** A message to try, with its bytes. */
export type MessageToTry = Received & StoredMessageRow & { readonly raw: string };

/**
 * The next messages of a trial, in the order of receipt: one, or as many as the limits allow.
 *
 * @param after the last tried one; null at first
 */
export const messagesToTry = (
  site: string,
  clientId: string,
  { first, after, last }: { readonly first: Received; readonly after: Received | null; readonly last: Received },
  limits: { readonly messages: number; readonly bytes: number },
): Query<MessageToTry> => {
  const from = after ?? first;
  return read<MessageToTry>`select n.received_at::text as received_at, m.message_id, ${STORED_MESSAGE}
    from (select x.received_at, x.message_id, sum(octet_length(x.raw)) over w as bytes, row_number() over w as number
            from (select m.* from hl7_message m
                   where m.site_id = ${site}::uuid and m.client_id = ${clientId} and m.raw is not null
                     and (m.received_at, m.message_id) >= (${from.received_at}::timestamptz, ${from.message_id}::uuid)
                     and (m.received_at, m.message_id) <= (${last.received_at}::timestamptz, ${last.message_id}::uuid)
                     and (${after === null}::boolean or m.message_id <> ${from.message_id}::uuid)
                   order by m.received_at, m.message_id limit ${limits.messages}::int) x
          window w as (order by x.received_at, x.message_id)) n
    join hl7_message m on m.site_id = ${site}::uuid and m.message_id = n.message_id and m.raw is not null
   where n.number = 1 or n.bytes <= ${limits.bytes}::bigint
   order by n.number`;
};

/** The findings of a trial so far. They have no data of patients. */
export interface TrialFindings {
  /** Messages that would be answered otherwise, by the first error of the old or new answer. */
  readonly answers: readonly TrialGroup<{ readonly before: string; readonly after: string; readonly reason: string }>[];
  /** Elements that would have another value: `Patient.gender`; a resource that would come or go has no element. */
  readonly elements: readonly TrialGroup<{ readonly element: string }>[];
  /** Messages whose resources would differ. */
  readonly differing: number;
  /** Stored resources that a replay would change, or create. */
  readonly replayed: number;
  /** Messages that cannot be tried: their key is disabled, or they are too large. */
  readonly left: number;
}

export type TrialGroup<Of> = Of & {
  readonly messages: number;
  /** Ids of the first messages. */
  readonly samples: readonly string[];
};

export interface TrialCursor {
  readonly clientId: string;
  /** The draft when the trial began. */
  readonly rules: LiveRules;
  readonly first: Received;
  readonly after: Received | null;
  readonly last: Received;
  readonly found: TrialFindings;
}

export const trialJob = (id: string, site: string, cursor: TrialCursor, total: number, askedBy: string): NewJob => ({
  id,
  kind: TRIAL_KIND,
  site,
  exclusiveKey: 'site',
  cursor,
  total,
  askedBy,
});

/** The newest trial of a key; its cursor is a `TrialCursor`. */
export const newestTrial = (site: string, clientId: string): Query<AskedJob> =>
  read<AskedJob>`select ${ASKED_JOB} from job j
   where j.site_id = ${site}::uuid and j.kind = ${TRIAL_KIND} and j.cursor ->> 'clientId' = ${clientId}
   order by j.created_at desc, j.job_id desc limit 1`;
