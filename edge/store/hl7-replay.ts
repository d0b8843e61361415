/** The jobs that replay messages or retry failed ones, and their statements. */
import type { Query } from '../deps.ts';
import { ASKED_JOB, type AskedJob, type NewJob } from './job.ts';
import { read } from './sql.ts';
import type { UnmappedName } from './unmapped-name.ts';

export const REPLAY_KIND = 'hl7-replay';
/** `hl7_store` adds jobs of this kind. */
export const RETRY_KIND = 'hl7-retry';

/** The messages to replay; '' for any. */
export interface ReplayFilter {
  /** The outcome of the last attempt; `errors` are AE and AR. */
  readonly outcome: '' | 'AA' | 'AE' | 'AR' | 'errors';
  /** The begin of MSH-9: `ADT`, `ADT^A04`. */
  readonly type: string;
  /** The reason of a finding of the last attempt: `ambiguous-patient`. */
  readonly reason: string;
  readonly clientId: string;
  /** Instants. */
  readonly from: string;
  readonly to: string;
  /** Only messages with this unmapped name. */
  readonly unmapped: UnmappedName | null;
}

/** The position of a replay. */
export interface ReplayCursor {
  readonly filter: ReplayFilter;
  readonly actor: string;
  /** The provider's `sub` of the person who started it. */
  readonly subject: string;
  /** The person's reason; '' without one. */
  readonly comment: string;
  /** The last replayed message, and the last one to replay: ids are in the order of receipt. */
  readonly after: string;
  readonly last: string;
}

const FIRST = '00000000-0000-0000-0000-000000000000';

/** SQL over `hl7_message m`. */
const isSelected = (site: string, { outcome, type, reason, clientId, from, to, unmapped }: ReplayFilter) => ({
  text: `m.site_id = $1::uuid and m.raw is not null
       and ($2 = '' or m.outcome = $2 or $2 = 'errors' and m.outcome in ('AE', 'AR'))
       and ($9 = '' or starts_with(m.message_type, upper($9))) and ($3 = '' or strpos(m.errors::text, $3) > 0)
       and ($4 = '' or m.client_id = $4) and ($5::timestamptz is null or m.received_at >= $5::timestamptz)
       and ($6::timestamptz is null or m.received_at < $6::timestamptz)
       ${
         // Only with a name, so that the plan fits.
         unmapped === null
           ? 'and $7::text is null and $8::text is null'
           : 'and m.message_id in (select u.message_id from unmapped_name u where u.site_id = $1::uuid and u.kind = $7 and u.name = $8)'
       }`,
  params: [
    site,
    outcome,
    reason === '' ? '' : `"reason":${JSON.stringify(reason)}`,
    clientId,
    from === '' ? null : from,
    to === '' ? null : to,
    unmapped?.kind ?? null,
    unmapped?.name ?? null,
    type,
  ],
});

/** The number of selected messages, and the last of them; null for none. */
export function countSelected(
  site: string,
  filter: ReplayFilter,
): Query<{ readonly count: number; readonly last: string | null }> {
  const { text, params } = isSelected(site, filter);
  return {
    text: `select count(*)::integer as count, max(m.message_id::text) as last from hl7_message m where ${text}`,
    params,
  };
}

/** The next messages of a replay, in the order of receipt. */
export function nextSelected(
  site: string,
  { filter, after, last }: Pick<ReplayCursor, 'filter' | 'after' | 'last'>,
  limit: number,
): Query<{ readonly message_id: string; readonly message_type: string; readonly control_id: string }> {
  const { text, params } = isSelected(site, filter);
  return {
    text: `select m.message_id, m.message_type, m.control_id from hl7_message m where ${text} and m.message_id > $10::uuid and m.message_id <= $11::uuid
      order by m.message_id limit $12::integer`,
    params: [...params, after, last, limit],
    reads: true,
  };
}

/**
 * @param id a new UUID
 * @param selected as of `countSelected`
 * @param by.comment the person's reason
 */
export function replayJob(
  id: string,
  site: string,
  filter: ReplayFilter,
  selected: { readonly count: number; readonly last: string },
  by: { readonly author: string; readonly subject: string; readonly comment: string },
): NewJob {
  const cursor: ReplayCursor = {
    filter,
    actor: by.author,
    subject: by.subject,
    comment: by.comment,
    after: FIRST,
    last: selected.last,
  };
  return { id, kind: REPLAY_KIND, site, exclusiveKey: 'site', cursor, total: selected.count, askedBy: by.author };
}

/** Its cursor is a `ReplayCursor`. */
export interface ReplayRow extends AskedJob {
  /** Outcomes of its attempts. */
  readonly accepted: number;
  readonly errors: number;
  readonly rejected: number;
}

/**
 * The replays of a site, the newest first.
 *
 * @param id null for all that are stored, 100 at most
 */
export function replaysOf(site: string, id: string | null): Query<ReplayRow> {
  return read<ReplayRow>`select ${ASKED_JOB}, a.accepted, a.errors, a.rejected
    from job j
   cross join lateral (
     select count(*) filter (where x.outcome = 'AA')::integer as accepted,
            count(*) filter (where x.outcome = 'AE')::integer as errors,
            count(*) filter (where x.outcome = 'AR')::integer as rejected
       from hl7_attempt x where x.site_id = j.site_id and x.job_id = j.job_id) a
   where j.site_id = ${site}::uuid and j.kind = ${REPLAY_KIND} and (${id}::uuid is null or j.job_id = ${id}::uuid)
   order by j.created_at desc, j.job_id desc limit 100`;
}

/** A failed message is retried after so many minutes each. After the last retry a person must handle it. */
const RETRY_AFTER_MINUTES: readonly string[] = ['10', '30', '120', '360'];

/** Failed messages with retries left; `is_due` those whose pause is over. */
const WAITING = `from hl7_message m
     cross join lateral (
       select count(*) filter (where a.why = 'retried') as tries, max(a.at) as last
         from hl7_attempt a where a.site_id = m.site_id and a.message_id = m.message_id) a
     where m.site_id = $1::uuid and m.has_failed and a.tries < cardinality($2::integer[])`;

/** Failed messages of a site whose retry is due, in the order of receipt. */
export function dueForRetry(site: string, limit: number): Query<{ readonly message_id: string }> {
  return {
    text: `select m.message_id ${WAITING}
       and a.last <= clock_timestamp() - make_interval(mins => ($2::integer[])[a.tries + 1])
     order by m.message_id limit $3::integer`,
    params: [site, RETRY_AFTER_MINUTES, limit],
    reads: true,
  };
}

export function isAnyWaiting(site: string): Query<{ readonly waiting: boolean }> {
  return { text: `select exists (select ${WAITING}) as waiting`, params: [site, RETRY_AFTER_MINUTES], reads: true };
}

/**
 * For the end of a job: a message that failed meanwhile gets another job.
 *
 * @param id a new UUID
 */
export function addRetryIfWaiting(id: string, site: string): Query {
  return {
    text: `select job_add($3::uuid, '${RETRY_KIND}', $1::uuid, 'site', '{}', null, 'gateway') where exists (select ${WAITING})`,
    params: [site, RETRY_AFTER_MINUTES, id],
  };
}
