/** Requests counted for charts: a quarter of an hour, a surface and an outcome of one site; nothing about whom or what. */
import type { Query } from '../deps.ts';
import { read, sql } from './sql.ts';

export const USAGE_SURFACES = ['token', 'fhir', 'hl7', 'mllp'] as const;
export type UsageSurface = (typeof USAGE_SURFACES)[number];
/** `refused` is the caller's fault (4xx, AE, AR), `failed` is ours (5xx). */
export type UsageOutcome = 'ok' | 'refused' | 'failed';

/** Upper bounds of the latency histogram in milliseconds; a last, open bucket follows them. */
export const LATENCY_BOUNDS_MS = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] as const;

export interface UsageCount {
  readonly site: string;
  /** Milliseconds since the epoch, somewhere in the quarter of an hour that is meant. */
  readonly at: number;
  /** One of USAGE_SURFACES. */
  readonly surface: string;
  readonly outcome: UsageOutcome;
  readonly requests: number;
  /** All of them together. */
  readonly durationMs: number;
  /** One more than LATENCY_BOUNDS_MS. */
  readonly latency: readonly number[];
}

/** An HTTP status, MSA-1 of an ACK, or a token that was issued. */
export type Answer = `${number}` | 'AA' | 'AE' | 'AR' | 'token';

export interface AnswerCount {
  readonly site: string;
  readonly surface: UsageSurface;
  readonly answer: Answer;
  readonly answers: number;
}

/** What a key did: of HL7 its messages that were answered, by what their sender calls itself. */
export interface KeyCount {
  readonly site: string;
  readonly clientId: string;
  readonly surface: UsageSurface;
  /** MSH-3 and MSH-4; empty for what is no message. */
  readonly application: string;
  readonly facility: string;
  /** Of the last, in milliseconds since the epoch. */
  readonly at: number;
  /** AA; below 400. */
  readonly accepted: number;
  /** AE; 4xx. */
  readonly refused: number;
  /** AR; 5xx. */
  readonly rejected: number;
}

/** What one process has counted; each combination once. */
export interface Counted {
  readonly counts: readonly UsageCount[];
  readonly answers: readonly AnswerCount[];
  readonly keys: readonly KeyCount[];
}

export function noteUsage({ counts, answers, keys }: Counted): Query {
  const [c, a, k] = [counts, answers, keys].map((list) => JSON.stringify(list));
  return sql`select usage_noted(${c ?? ''}::json, ${a ?? ''}::json, ${k ?? ''}::json)`;
}

export interface UsageRow {
  /** Seconds since the epoch. */
  readonly bucket: number;
  readonly surface: UsageSurface;
  readonly outcome: UsageOutcome;
  readonly requests: number;
  /** A PostgreSQL array literal of integers. */
  readonly latency: string;
}

/** What the charts can show: how far back, in steps of how long. */
export const USAGE_SPANS = {
  '24h': { seconds: 24 * 3600, stepSeconds: 900 },
  '30d': { seconds: 30 * 86400, stepSeconds: 86400 },
} as const;
export type UsageSpan = keyof typeof USAGE_SPANS;

/** Usage of a site, in the steps of the span, oldest first; steps without requests have no row. */
export function usageOf(site: string, span: UsageSpan, nowMs: number): Query<UsageRow> {
  const { seconds, stepSeconds } = USAGE_SPANS[span];
  const from = Math.floor(nowMs / 1000) - seconds;
  return read<UsageRow>`with u as (
      select floor(extract(epoch from x.bucket) / ${stepSeconds}::int)::bigint * ${stepSeconds}::int as bucket, x.surface,
             x.outcome, x.requests, x.latency
        from usage x where x.site_id = ${site}::uuid and x.bucket >= to_timestamp(${from}::float8)
    ), requests as (
      select bucket, surface, outcome, sum(requests)::int as requests from u group by bucket, surface, outcome
    ), steps as (
      select bucket, surface, outcome, i, sum(n)::int as n
        from u cross join lateral unnest(latency) with ordinality l(n, i) group by bucket, surface, outcome, i
    ), latency as (
      select bucket, surface, outcome, array_agg(n order by i)::text as latency from steps
       group by bucket, surface, outcome
    )
    select bucket::int as bucket, surface, outcome, requests, latency
      from requests join latency using (bucket, surface, outcome) order by 1, 2, 3`;
}
