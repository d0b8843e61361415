/**
 * The metrics of /metrics as one table of families. Labels are ids and values from closed lists, without patient data. The only
 * names that users have typed are those of sites and sidecars.
 */
import * as z from 'zod';

import { madeAt } from '../../shared/oauth/signing-kid.ts';
import { SUBSCRIPTION_STATUSES } from '../store/subscription.ts';
import { LATENCY_BOUNDS_MS } from '../store/usage.ts';
import type { ProcessUse } from '../deps.ts';
import type { MetricsRow } from '../store/metrics.ts';
import type { Family, Sample } from './exposition.ts';

const familyOf =
  (type: Family['type']) =>
  (name: string, help: string, samples: readonly Sample[]): Family => ({ name, type, help, samples });
const [counter, gauge, histogram] = [familyOf('counter'), familyOf('gauge'), familyOf('histogram')];

const listOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.object(shape));
const ofSurface = { site: z.string(), surface: z.string() };

const LISTS = {
  usage: listOf({ ...ofSurface, outcome: z.string(), durationMs: z.number(), latency: z.array(z.number()) }),
  answers: listOf({ ...ofSurface, answer: z.string(), answers: z.number() }),
  feeds: listOf({ ...ofSurface, clientId: z.string(), at: z.number() }),
  failed: listOf({ site: z.string(), messages: z.number() }),
  sidecars: listOf({ name: z.string(), at: z.number() }),
  jobs: listOf({ kind: z.string(), open: z.number(), failed: z.number(), dueSeconds: z.number() }),
  alerts: listOf({ site: z.string(), kind: z.string(), state: z.string(), alerts: z.number() }),
  signingKeys: listOf({ kid: z.string(), at: z.number() }),
  sites: listOf({ site: z.string(), name: z.string() }),
  subscriptions: listOf({
    site: z.string(),
    requested: z.number(),
    active: z.number(),
    error: z.number(),
    off: z.number(),
    events: z.number(),
    seconds: z.number(),
    accepted: z.number(),
    failed: z.number(),
  }),
  counted: z.object({ usage: z.number(), answers: z.number(), feeds: z.number() }),
};

const parsed = <Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> =>
  schema.parse(JSON.parse(text));

type Usage = z.output<typeof LISTS.usage>[number];

/** Buckets are cumulative, in seconds. */
function histogramOf({ site, surface, outcome, durationMs, latency }: Usage): Sample[] {
  const labels = { site, surface, outcome };
  let below = 0;
  const buckets = [...LATENCY_BOUNDS_MS.map((ms) => String(ms / 1000)), '+Inf'].map((le, step) => {
    below += latency[step] ?? 0;
    return { suffix: '_bucket', labels: { ...labels, le }, value: below } as const;
  });
  return [...buckets, { suffix: '_sum', labels, value: durationMs / 1000 }, { suffix: '_count', labels, value: below }];
}

/** In seconds since the epoch; a key of unknown age has no sample. @param kids the first of them signs */
function signingKeysOf(kids: readonly string[], seen: ReadonlyMap<string, number>): Sample[] {
  return kids.flatMap((kid, place) => {
    const firstSeen = seen.get(kid);
    const made = madeAt(kid, firstSeen === undefined ? undefined : firstSeen * 1000);
    const labels = { kid, use: place === 0 ? 'signs' : 'published' };
    return made === undefined ? [] : [{ labels, value: made / 1000 }];
  });
}

/** A sample for each value of a label. */
const samplesOf = (label: string, values: Readonly<Record<string, number>> = {}): Sample[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));

/** Facts about a deployment that are not in its database. */
interface Deployment {
  readonly schema: number;
  /** Undefined if the platform does not report it. */
  readonly version: string | undefined;
  /** The kids of the published keys; the first of them signs. */
  readonly kids: readonly string[];
}

/**
 * The metrics that the process itself has, also while the database is away.
 *
 * @param use undefined if the runtime cannot measure it
 */
export const familiesOfProcess = (
  { schema, version }: Deployment,
  isDatabaseUp: boolean,
  use?: ProcessUse,
): Family[] => [
  gauge('gateway_info', 'The running version and its schema.', [
    { labels: { version: version ?? '', schema: String(schema) }, value: 1 },
  ]),
  gauge(
    'gateway_database_up',
    '1 if the database answered this scrape. With 0, only the metrics of the process follow.',
    [{ labels: {}, value: isDatabaseUp ? 1 : 0 }],
  ),
  gauge(
    'gateway_memory_bytes',
    'Memory of this process: resident, and the heap of JavaScript.',
    samplesOf('kind', use && { resident: use.residentBytes, heap: use.heapBytes }),
  ),
  counter(
    'gateway_event_loop_delay_seconds_total',
    'The delay of the timers of this process. Its rate is the part of the time in which a new request waited.',
    use === undefined ? [] : [{ labels: {}, value: use.loopDelay }],
  ),
  gauge(
    'gateway_database_connections',
    'Connections of this process to the database.',
    samplesOf('state', use?.pool && { busy: use.pool.busy, idle: use.pool.idle }),
  ),
  gauge(
    'gateway_database_requests_waiting',
    'Requests of this process that wait for a connection to the database.',
    use?.pool === undefined ? [] : [{ labels: {}, value: use.pool.waiting }],
  ),
];

export function familiesOf(row: MetricsRow, { kids }: Deployment): Family[] {
  const answers = parsed(LISTS.answers, row.answers);
  const usage = parsed(LISTS.usage, row.usage);
  const feeds = parsed(LISTS.feeds, row.feeds);
  const jobs = parsed(LISTS.jobs, row.jobs);
  const counted = parsed(LISTS.counted, row.counted);
  const subscriptions = parsed(LISTS.subscriptions, row.subscriptions);
  const seen = new Map(parsed(LISTS.signingKeys, row.signing_keys).map(({ kid, at }) => [kid, at]));
  const answered = (label: string, is: (answer: string) => boolean): Sample[] =>
    answers
      .filter(({ answer }) => is(answer))
      .map(({ site, surface, answer, answers: value }) => ({ labels: { site, surface, [label]: answer }, value }));
  return [
    gauge(
      'gateway_site_info',
      'The name of each site, to show beside its id.',
      parsed(LISTS.sites, row.sites).map((labels) => ({ labels, value: 1 })),
    ),
    histogram(
      'gateway_request_duration_seconds',
      'Requests of known clients by outcome: refused is a client error, failed is a gateway error.',
      usage.flatMap(histogramOf),
    ),
    counter(
      'gateway_responses_total',
      'The same requests by HTTP status.',
      answered('status', (answer) => /^\d/.test(answer)),
    ),
    counter(
      'gateway_acks_total',
      'HL7 messages by acknowledgement code (MSA-1).',
      answered('code', (answer) => answer.startsWith('A')),
    ),
    counter(
      'gateway_tokens_issued_total',
      'Access tokens issued.',
      answers
        .filter(({ answer }) => answer === 'token')
        .map(({ site, answers: value }) => ({ labels: { site }, value })),
    ),
    gauge(
      'gateway_feed_last_message_timestamp_seconds',
      'When an active API key sent its last HL7 message.',
      feeds.map(({ site, clientId, surface, at }) => ({ labels: { site, client_id: clientId, surface }, value: at })),
    ),
    gauge(
      'gateway_messages_to_replay',
      'Messages that are not processed because the gateway failed.',
      parsed(LISTS.failed, row.failed).map(({ site, messages }) => ({ labels: { site }, value: messages })),
    ),
    gauge(
      'gateway_subscriptions',
      'Subscriptions of API keys by status.',
      subscriptions.flatMap((of) =>
        SUBSCRIPTION_STATUSES.map((status) => ({ labels: { site: of.site, status }, value: of[status] })),
      ),
    ),
    gauge(
      'gateway_subscription_lag_events',
      'Events of subscriptions that are not delivered, without those of paused ones.',
      subscriptions.map(({ site, events }) => ({ labels: { site }, value: events })),
    ),
    gauge(
      'gateway_subscription_lag_seconds',
      'The age of the oldest of these events.',
      subscriptions.map(({ site, seconds }) => ({ labels: { site }, value: seconds })),
    ),
    counter(
      'gateway_notifications_total',
      'Notifications of subscriptions that were posted: accepted with 2xx, or failed.',
      subscriptions.flatMap((of) =>
        (['accepted', 'failed'] as const).map((outcome) => ({
          labels: { site: of.site, outcome },
          value: of[outcome],
        })),
      ),
    ),
    gauge(
      'gateway_sidecar_last_seen_timestamp_seconds',
      'The last request of each sidecar seen in the last seven days.',
      parsed(LISTS.sidecars, row.sidecars).map(({ name, at }) => ({ labels: { sidecar: name }, value: at })),
    ),
    gauge(
      'gateway_alerts',
      'Alerts that are not resolved: firing, acknowledged or silenced.',
      parsed(LISTS.alerts, row.alerts).map(({ alerts: value, ...labels }) => ({ labels, value })),
    ),
    gauge(
      'gateway_signing_key_created_timestamp_seconds',
      'When a key of the published JWKS was made, by its kid or its first signature.',
      signingKeysOf(kids, seen),
    ),
    gauge(
      'gateway_jobs',
      'Background jobs that are open, or were given up in the last day.',
      jobs.flatMap(({ kind, open, failed }) => [
        { labels: { kind, state: 'open' }, value: open },
        { labels: { kind, state: 'failed' }, value: failed },
      ]),
    ),
    gauge(
      'gateway_job_due_seconds',
      'How long the oldest open job of a kind has been due.',
      jobs.map(({ kind, dueSeconds }) => ({ labels: { kind }, value: dueSeconds })),
    ),
    gauge('gateway_metrics_left_out', 'Rows that are not reported because there are too many.', [
      { labels: { of: 'usage' }, value: Math.max(0, counted.usage - usage.length) },
      { labels: { of: 'answers' }, value: Math.max(0, counted.answers - answers.length) },
      { labels: { of: 'feeds' }, value: Math.max(0, counted.feeds - feeds.length) },
    ]),
  ];
}
