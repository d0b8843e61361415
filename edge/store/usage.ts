/**
 * Requests counted for graphs: a quarter of an hour, a surface and an outcome of one site; no patient and no content.
 */
import type { Query } from '../deps.ts';
import { raw, read, sql } from './sql.ts';

export const USAGE_SURFACES = ['token', 'fhir', 'hl7', 'mllp'] as const;
export type UsageSurface = (typeof USAGE_SURFACES)[number];
/** `refused` is an error of the caller (4xx, AE, AR), `failed` is an error of the gateway (5xx). */
export type UsageOutcome = 'ok' | 'refused' | 'failed';

/** Upper bounds of the latency histogram in milliseconds; a last, open bucket follows them. */
export const LATENCY_BOUNDS_MS = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] as const;

export interface UsageCount {
  readonly site: string;
  /** Milliseconds since the epoch: any time in the quarter of an hour. */
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

/** The activity of a key; for HL7 its answered messages, by the sender's names. */
export interface KeyCount {
  readonly site: string;
  readonly clientId: string;
  readonly surface: UsageSurface;
  /** MSH-3 and MSH-4; empty for a request that is not a message. */
  readonly application: string;
  readonly facility: string;
  /** The time of the last request, in milliseconds since the epoch. */
  readonly at: number;
  /** AA; below 400. */
  readonly accepted: number;
  /** AE; 4xx. */
  readonly refused: number;
  /** AR; 5xx. */
  readonly rejected: number;
}

/** That a client has authenticated with a public key, and when last, in milliseconds since the epoch. */
export interface KidNote {
  readonly site: string;
  readonly clientId: string;
  /** Empty for a key without one. */
  readonly kid: string;
  readonly at: number;
}

/** The counts of one process; each combination once. */
export interface Counted {
  readonly counts: readonly UsageCount[];
  readonly answers: readonly AnswerCount[];
  readonly keys: readonly KeyCount[];
  readonly kids: readonly KidNote[];
}

export function noteUsage({ counts, answers, keys, kids }: Counted): Query {
  const [c, a, k, n] = [counts, answers, keys, kids].map((list) => JSON.stringify(list));
  return sql`select usage_noted(${c ?? ''}::json, ${a ?? ''}::json, ${k ?? ''}::json), key_kids_note(${n ?? ''}::json)`;
}

export interface UsageRow {
  /** The position of the step, from 0. */
  readonly step: number;
  readonly surface: UsageSurface;
  readonly outcome: UsageOutcome;
  readonly requests: number;
  /** A PostgreSQL array literal of integers. */
  readonly latency: string;
}

/** SQL: histograms added up, bucket by bucket. PostgreSQL adds integers in half the time of bigints. */
const LATENCY_SUMS = Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, (_, at) => `sum(x.latency[${at + 1}]::int)`);

/**
 * Usage of a site in steps; those without requests have no row.
 *
 * @param steps when each begins, in seconds since the epoch, ascending
 * @param end the end of the last step
 */
export function usageOf(site: string, steps: readonly number[], end: number): Query<UsageRow> {
  return read<UsageRow>`select width_bucket(x.bucket, (select array_agg(to_timestamp(s) order by s) from unnest(${steps.map(String)}::float8[]) s)) - 1 as step,
      x.surface, x.outcome, sum(x.requests)::int as requests, array[${raw(LATENCY_SUMS.join(', '))}]::bigint[]::text as latency
    from usage x
    where x.site_id = ${site}::uuid and x.bucket >= to_timestamp(${steps[0] ?? end}::float8)
      and x.bucket < to_timestamp(${end}::float8)
    group by 1, 2, 3 order by 1, 2, 3`;
}
