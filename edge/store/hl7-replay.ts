/** Replays of many messages, and the messages that a fault of the gateway kept back, as jobs and in the database. */
import type { Query } from '../deps.ts';
import type { JobState, NewJob } from './job.ts';
import { instantOf, raw, read } from './sql.ts';
import type { UnnamedName } from './unnamed-name.ts';

/** The kind of the jobs that replay many messages. */
export const REPLAY_KIND = 'hl7-replay';
/** The kind of the jobs that try again what failed; `hl7_store` asks for them by this name. */
export const RETRY_KIND = 'hl7-retry';

/** Which messages; '' for any. */
export interface ReplayFilter {
  /** Of the last attempt. */
  readonly outcome: '' | 'AA' | 'AE' | 'AR';
  /** Of a finding of the last attempt: `ambiguous-patient`. */
  readonly reason: string;
  readonly clientId: string;
  /** Instants. */
  readonly from: string;
  readonly to: string;
  /** Only those that have it without a URI. */
  readonly unnamed: UnnamedName | null;
}

/** Where a replay is. */
export interface ReplayCursor {
  readonly filter: ReplayFilter;
  readonly actor: string;
  /** The provider's `sub` of whoever asked. */
  readonly subject: string;
  /** Why, in the words of who asked; '' for nothing said. */
  readonly comment: string;
  /** The last message that was done, and the last that there was when it was asked for: ids are in the order of receipt. */
  readonly after: string;
  readonly last: string;
}

const FIRST = '00000000-0000-0000-0000-000000000000';

/** SQL over `hl7_message m`. */
const isMeant = (site: string, { outcome, reason, clientId, from, to, unnamed }: ReplayFilter) => ({
  text: `m.site_id = $1::uuid and m.raw is not null and ($2 = '' or m.outcome = $2) and ($3 = '' or strpos(m.errors::text, $3) > 0)
       and ($4 = '' or m.client_id = $4) and ($5::timestamptz is null or m.received_at >= $5::timestamptz)
       and ($6::timestamptz is null or m.received_at < $6::timestamptz)
       ${
         // Added only where a name is asked for, so that the plan is made for it.
         unnamed === null
           ? 'and $7::text is null and $8::text is null'
           : 'and m.message_id in (select u.message_id from unnamed_name u where u.site_id = $1::uuid and u.kind = $7 and u.name = $8)'
       }`,
  params: [
    site,
    outcome,
    reason === '' ? '' : `"reason":${JSON.stringify(reason)}`,
    clientId,
    from === '' ? null : from,
    to === '' ? null : to,
    unnamed?.kind ?? null,
    unnamed?.name ?? null,
  ],
});

/** How many messages a filter means, and the last of them; null for none. */
export function countMeant(
  site: string,
  filter: ReplayFilter,
): Query<{ readonly count: number; readonly last: string | null }> {
  const { text, params } = isMeant(site, filter);
  return {
    text: `select count(*)::integer as count, max(m.message_id::text) as last from hl7_message m where ${text}`,
    params,
  };
}

/** The next messages of a replay, in the order of receipt. */
export function nextMeant(
  site: string,
  { filter, after, last }: ReplayCursor,
  limit: number,
): Query<{ message_id: string }> {
  const { text, params } = isMeant(site, filter);
  return {
    text: `select m.message_id from hl7_message m where ${text} and m.message_id > $9::uuid and m.message_id <= $10::uuid
      order by m.message_id limit $11::integer`,
    params: [...params, after, last, limit],
  };
}

/** @param id a new UUID @param last as `countMeant` found it @param comment why, in the words of who asks */
export function replayJob(
  id: string,
  site: string,
  filter: ReplayFilter,
  total: number,
  last: string,
  by: { readonly author: string; readonly subject: string; readonly comment: string },
): NewJob {
  const cursor: ReplayCursor = {
    filter,
    actor: by.author,
    subject: by.subject,
    comment: by.comment,
    after: FIRST,
    last,
  };
  return { id, kind: REPLAY_KIND, site, exclusiveKey: 'site', cursor, total, askedBy: by.author };
}

export interface ReplayRow {
  readonly job_id: string;
  readonly state: JobState;
  /** JSON: a `ReplayCursor`. */
  readonly cursor: string;
  readonly progress_done: number;
  readonly progress_total: number | null;
  readonly last_error: string | null;
  readonly asked_by: string;
  readonly created_at: string;
  readonly ended_at: string | null;
  /** Outcomes of what it has done. */
  readonly accepted: number;
  readonly errors: number;
  readonly rejected: number;
}

/** The replays of a site, the newest first. @param id of one; null for all that are remembered, 100 at most */
export function replaysOf(site: string, id: string | null): Query<ReplayRow> {
  return read<ReplayRow>`select j.job_id, j.state, j.cursor::text as cursor, j.progress_done::integer as progress_done,
      j.progress_total::integer as progress_total, j.last_error, j.asked_by, ${raw(instantOf('j.created_at'))} as created_at,
      ${raw(instantOf('j.ended_at'))} as ended_at, a.accepted, a.errors, a.rejected
    from job j
   cross join lateral (
     select count(*) filter (where x.outcome = 'AA')::integer as accepted,
            count(*) filter (where x.outcome = 'AE')::integer as errors,
            count(*) filter (where x.outcome = 'AR')::integer as rejected
       from hl7_attempt x where x.site_id = j.site_id and x.job_id = j.job_id) a
   where j.site_id = ${site}::uuid and j.kind = ${REPLAY_KIND} and (${id}::uuid is null or j.job_id = ${id}::uuid)
   order by j.created_at desc, j.job_id desc limit 100`;
}

/** After so many minutes each what failed is tried again; then somebody has to look at it. */
const RETRY_AFTER_MINUTES: readonly string[] = ['10', '30', '120', '360'];

/** Failed messages that have tries left; `is_due` those whose pause is over. */
const WAITING = `from hl7_message m
     cross join lateral (
       select count(*) filter (where a.why = 'retried') as tries, max(a.at) as last
         from hl7_attempt a where a.site_id = m.site_id and a.message_id = m.message_id) a
     where m.site_id = $1::uuid and m.has_failed and a.tries < cardinality($2::integer[])`;

/** Of the messages of a site that failed those whose time has come, in the order of receipt. */
export function dueForRetry(site: string, limit: number): Query<{ readonly message_id: string }> {
  return {
    text: `select m.message_id ${WAITING}
       and a.last <= clock_timestamp() - make_interval(mins => ($2::integer[])[a.tries + 1])
     order by m.message_id limit $3::integer`,
    params: [site, RETRY_AFTER_MINUTES, limit],
  };
}

/** Whether any of them will be tried again. */
export function isAnyWaiting(site: string): Query<{ readonly waiting: boolean }> {
  return { text: `select exists (select ${WAITING}) as waiting`, params: [site, RETRY_AFTER_MINUTES] };
}

/** For the end of a job: a message that failed while it ended gets a job of its own. @param id a new UUID */
export function addRetryIfWaiting(id: string, site: string): Query {
  return {
    text: `select job_add($3::uuid, '${RETRY_KIND}', $1::uuid, 'site', '{}', null, 'gateway') where exists (select ${WAITING})`,
    params: [site, RETRY_AFTER_MINUTES, id],
  };
}
