/** What alerts are decided by, as it was read in one round trip, and what of it is wrong now. Pure. */
import * as z from 'zod';

import { madeAt, rotationDue } from '../../shared/oauth/signing-kid.ts';
import type { AlertFactsRow, AlertKind } from '../store/alert.ts';
import { SIDECAR_SILENT_MS } from '../store/sidecar.ts';
import { isWatched, patienceMs } from './hours.ts';

const ms = z.number();
const about = { site: z.string(), subject: z.string() };

const LISTS = {
  watches: z.array(
    z.object({
      ...about,
      afterMinutes: z.number(),
      hours: z.string().nullable(),
      days: z.array(z.string()).readonly(),
      zone: z.string().nullable(),
      /** The last message, or what the key was last changed. */
      since: ms,
      lastAt: ms.nullable(),
    }),
  ),
  /** Of the last 15 to 30 minutes, by surface. */
  errors: z.array(z.object({ ...about, percent: z.number(), requests: z.number(), errors: z.number() })),
  sidecars: z.array(z.object({ ...about, lastAt: ms })),
  signingKeys: z.array(z.object({ subject: z.string(), firstSeen: ms })),
  /** Token requests of the last half hour that failed for it. */
  jwks: z.array(z.object({ ...about, refusals: z.number() })),
  /** Older than a quarter of an hour. */
  failed: z.array(z.object({ site: z.string(), messages: z.number() })),
  alerts: z.array(
    z.object({
      ...about,
      id: z.string(),
      kind: z.string(),
      times: z.number(),
      told: z.enum(['', 'open', 'resolved']),
      openedAt: ms,
      clearSince: ms.nullable(),
      resolvedAt: ms.nullable(),
      toldAt: ms.nullable(),
      isAcknowledged: z.boolean(),
    }),
  ),
  mutes: z.array(z.object({ ...about, kind: z.string() })),
  sites: z.array(z.object({ site: z.string(), hasWebhook: z.boolean() })),
};

export type Facts = { readonly [List in keyof typeof LISTS]: z.output<(typeof LISTS)[List]> } & {
  /** Milliseconds since the epoch, by the database's clock. */
  readonly now: number;
};
export type KnownAlert = Facts['alerts'][number];

const read = <Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> =>
  schema.parse(JSON.parse(text));

export const factsOf = (row: AlertFactsRow): Facts => ({
  now: row.clock,
  watches: read(LISTS.watches, row.watches),
  errors: read(LISTS.errors, row.errors),
  sidecars: read(LISTS.sidecars, row.sidecars),
  signingKeys: read(LISTS.signingKeys, row.signing_keys),
  jwks: read(LISTS.jwks, row.jwks),
  failed: read(LISTS.failed, row.failed),
  alerts: read(LISTS.alerts, row.alerts),
  mutes: read(LISTS.mutes, row.mutes),
  sites: read(LISTS.sites, row.sites),
});

/** Something that is wrong. */
export interface Firing {
  readonly site: string;
  readonly kind: AlertKind;
  readonly subject: string;
}

/** Fewer say nothing: one refused request of two is no rate. */
const FEWEST_REQUESTS = 20;
/** One may be the client's first try after it changed its host. */
const FEWEST_JWKS_REFUSALS = 3;
/** One may be a provider that is started anew. */
const FEWEST_PROVIDER_FAILURES = 2;

/** What is known beside the database. */
export interface Watched {
  /**
   * Since when somebody has been looking without a break: what nobody could send while the gateway itself was away is not
   * held against anybody.
   */
  readonly since: number;
  /** How many looks in a row did not find the staff's OpenID provider. */
  readonly providerFailures: number;
}

/** What is wrong now. */
export function firing(facts: Facts, { since: watchedSince, providerFailures }: Watched): Firing[] {
  const { now } = facts;
  const open = new Map(
    facts.alerts
      .filter(({ resolvedAt }) => resolvedAt === null)
      .map((alert) => [`${alert.site} ${alert.kind} ${alert.subject}`, alert] as const),
  );
  const openOf = (kind: AlertKind, { site, subject }: { readonly site: string; readonly subject: string }) =>
    open.get(`${site} ${kind} ${subject}`);
  const named = (kind: AlertKind, list: readonly { readonly site: string; readonly subject: string }[]): Firing[] =>
    list.map(({ site, subject }) => ({ site, kind, subject }));
  /** What is the deployment's concerns the staff of every site. */
  const everywhere = (kind: AlertKind, subjects: readonly string[]): Firing[] =>
    facts.sites.flatMap(({ site }) =>
      named(
        kind,
        subjects.map((subject) => ({ site, subject })),
      ),
    );

  const silent = facts.watches.filter((watch) => {
    const alert = openOf('feed-silent', watch);
    // The end of the hours is no sign of life: it stays silent until a message comes.
    if (alert !== undefined && alert.clearSince === null)
      return watch.lastAt === null || watch.lastAt <= alert.openedAt;
    const patience = patienceMs(watch.afterMinutes, watch);
    const heard = Math.max(watch.since, watchedSince);
    return now - heard >= patience && isWatched(now - patience, now, watch);
  });
  const failing = facts.errors.filter((rate) => {
    const share = (100 * rate.errors) / rate.requests;
    // What is about at the limit is one alert, not one a minute.
    if (openOf('error-rate', rate) !== undefined) return share > rate.percent / 2;
    return rate.requests >= FEWEST_REQUESTS && share > rate.percent;
  });
  const old = facts.signingKeys
    .filter(({ subject, firstSeen }) => now > rotationDue(madeAt(subject, firstSeen) ?? firstSeen))
    .map(({ subject }) => subject);
  return [
    ...named('feed-silent', silent),
    ...named('error-rate', failing),
    ...named(
      'sidecar-silent',
      facts.sidecars.filter(({ lastAt }) => now - Math.max(lastAt, watchedSince) > SIDECAR_SILENT_MS),
    ),
    ...everywhere('signing-key-old', old),
    ...everywhere('provider-away', providerFailures >= FEWEST_PROVIDER_FAILURES ? [''] : []),
    ...named(
      'jwks-uri-failing',
      facts.jwks.filter(({ refusals }) => refusals >= FEWEST_JWKS_REFUSALS),
    ),
    ...named(
      'replay-needed',
      facts.failed.map(({ site }) => ({ site, subject: '' })),
    ),
  ];
}
