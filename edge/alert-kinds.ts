/**
 * The kinds of alerts, one a row (edge/docs/behaviour.md, Alerts). A row has the texts of the console and the webhook. `facts` is the
 * shape of the facts that `alert_facts` (migrations/functions) returns for the kind; `firing` returns the subjects that have an
 * alert.
 */
import * as z from 'zod';

import { madeAt, rotationDue } from '../shared/oauth/signing-kid.ts';
import { isWatched, patienceMs } from './members/watched-hours.ts';

/** A Client ID, a surface, a sidecar, a kid, or '' for the site. */
export interface AlertSubject {
  readonly site: string;
  readonly subject: string;
}

/** The input of `firing` besides the facts of a kind. Times are milliseconds since the epoch, by the database's clock. */
export interface AlertContext {
  readonly now: number;
  /** Since when the alerts have been checked without a break: a sender that could not reach the gateway is not silent. */
  readonly checkedSince: number;
  /** Checks in a row that did not reach the staff's OpenID provider. */
  readonly providerFailures: number;
  readonly sites: readonly string[];
  /** The alert of this kind and subject that is firing. */
  readonly firingAlert: (
    subject: AlertSubject,
  ) => { readonly firingSince: number; readonly clearSince: number | null } | undefined;
}

/** The numbers of a cause, as they were when the alert fired. */
export type AlertNumbers = Readonly<Record<string, number>>;

interface Row<Facts extends z.ZodType> {
  /** One sentence without the name of a key, a person or a patient. */
  readonly title: string;
  readonly todo: string;
  /** A sentence with the numbers. @param firedAt milliseconds since the epoch */
  readonly measured: (numbers: AlertNumbers, firedAt: number) => string;
  readonly facts: Facts;
  readonly firing: (facts: z.output<Facts>, context: AlertContext) => readonly AlertSubject[];
}

const alertKind = <Facts extends z.ZodType>({ title, todo, measured, facts, firing }: Row<Facts>) => ({
  title,
  todo,
  measured,
  /** @param given the JSON of `alert_facts` under the name of this kind */
  firing: (given: unknown, context: AlertContext) => firing(facts.parse(given), context),
});

const ms = z.number();
const of = { site: z.string(), subject: z.string() };

/**
 * A sidecar calls every 15 s, and each process of the gateway notes it once a minute. A restart within this time is not noticed.
 */
export const SIDECAR_SILENT_MS = 5 * 60_000;
/** The minute's job serves the feeds even where no write wakes them. */
const CHANGES_STALLED_MS = 3 * 60_000;
/** A rate of fewer requests says nothing. */
const MIN_REQUESTS = 20;
/** A key whose every second message is about a test patient is not in production. */
const MAX_IGNORED_PERCENT = 50;
/** One failure may be the client's first attempt after it moved its host. */
const MIN_JWKS_FAILURES = 3;
/** One failure may be a restart of the provider. */
const MIN_PROVIDER_FAILURES = 2;

/** An alert about the deployment is an alert of each site. */
const atEverySite = <Cause extends { readonly subject: string }>(
  { sites }: AlertContext,
  causes: readonly Cause[],
): (Cause & AlertSubject)[] => sites.flatMap((site) => causes.map((cause) => ({ ...cause, site })));

/** The numbers of what `firing` returned: all members that are numbers. */
export const numbersOf = (cause: AlertSubject): AlertNumbers =>
  Object.fromEntries(Object.entries(cause).filter(([, value]) => typeof value === 'number'));

const minutesFrom = (from: number, to: number): string => {
  const minutes = Math.max(0, Math.round((to - from) / 60_000));
  return minutes < 180 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
};
const text = (number: number): string => number.toLocaleString('en');

export const ALERT_KINDS = {
  'feed-silent': alertKind({
    title: 'A feed is silent',
    measured: ({ lastAt, afterMinutes = 0 }, firedAt) =>
      lastAt === undefined
        ? `No message yet. The limit is ${minutesFrom(0, afterMinutes * 60_000)}.`
        : `No message for ${minutesFrom(lastAt, firedAt)}. The limit is ${minutesFrom(0, afterMinutes * 60_000)}.`,
    todo: 'Ask the sender. The alert resolves with the next message. The hours in which a key is watched are a setting of the key.',
    facts: z.array(
      z.object({
        ...of,
        afterMinutes: z.number(),
        hours: z.string().nullable(),
        days: z.array(z.string()).readonly(),
        zone: z.string().nullable(),
        /** The last message, or the last change of the key. */
        since: ms,
        lastAt: ms.nullable(),
      }),
    ),
    firing: (feeds, { now, checkedSince, firingAlert }) =>
      feeds.filter((feed) => {
        const alert = firingAlert(feed);
        // The end of the watched hours does not end an alert, only a message does.
        if (alert !== undefined && alert.clearSince === null)
          return feed.lastAt === null || feed.lastAt <= alert.firingSince;
        const patience = patienceMs(feed.afterMinutes, feed);
        return now - Math.max(feed.since, checkedSince) >= patience && isWatched(now - patience, now, feed);
      }),
  }),
  'error-rate': alertKind({
    title: 'Too many requests are rejected or fail',
    measured: ({ requests = 0, errors = 0, percent = 0 }) =>
      `${text(errors)} of ${text(requests)} requests (${Math.round((100 * errors) / Math.max(1, requests))}%) in the 15 to 30 minutes before. The limit is ${percent}%.`,
    todo: 'See Requests for the reasons, the keys and the times.',
    /** Requests of the last 15 to 30 minutes, by surface. */
    facts: z.array(z.object({ ...of, percent: z.number(), requests: z.number(), errors: z.number() })),
    firing: (surfaces, { firingAlert }) =>
      surfaces.filter((surface) => {
        const share = (100 * surface.errors) / surface.requests;
        // A rate that varies around the limit is one alert.
        if (firingAlert(surface) !== undefined) return share > surface.percent / 2;
        return surface.requests >= MIN_REQUESTS && share > surface.percent;
      }),
  }),
  'sidecar-silent': alertKind({
    title: 'An MLLP sidecar does not call',
    measured: ({ lastAt = 0 }, firedAt) => `No call for ${minutesFrom(lastAt, firedAt)}. The limit is 5 min.`,
    todo: 'The operator checks /readyz and the log of the sidecar. Messages wait at their senders; none is lost.',
    facts: z.array(z.object({ ...of, lastAt: ms })),
    firing: (sidecars, { now, checkedSince }) =>
      sidecars.filter(({ lastAt }) => now - Math.max(lastAt, checkedSince) > SIDECAR_SILENT_MS),
  }),
  'provider-away': alertKind({
    title: 'The staff’s OpenID provider does not answer',
    measured: ({ failures = 0 }) => `${failures} checks in a row failed.`,
    todo:
      'Staff cannot sign in to the console, and sessions end within the hour. Messages and clients are not affected. ' +
      'Contact the operator of the provider; Health shows what it answers.',
    facts: z.undefined(),
    firing: (_, context) =>
      atEverySite(
        context,
        context.providerFailures >= MIN_PROVIDER_FAILURES ? [{ subject: '', failures: context.providerFailures }] : [],
      ),
  }),
  'signing-key-old': alertKind({
    title: 'The key that signs access tokens is older than a year',
    measured: ({ firstSeen = 0 }, firedAt) => `In use for ${Math.floor((firedAt - firstSeen) / 86_400_000)} days.`,
    todo: 'The operator rotates the key. No request fails during the rotation.',
    facts: z.array(z.object({ subject: z.string(), firstSeen: ms })),
    firing: (keys, context) =>
      atEverySite(
        context,
        keys.filter(({ subject, firstSeen }) => context.now > rotationDue(madeAt(subject, firstSeen) ?? firstSeen)),
      ),
  }),
  'jwks-uri-failing': alertKind({
    title: 'The JWKS URI of an API key cannot be used',
    measured: ({ failures = 0 }) => `${text(failures)} token requests failed in half an hour.`,
    todo: 'The client gets no token. The page of the key shows what is wrong with the address.',
    /** Token requests of the last half hour that failed for this reason. */
    facts: z.array(z.object({ ...of, failures: z.number() })),
    firing: (keys) => keys.filter(({ failures }) => failures >= MIN_JWKS_FAILURES),
  }),
  'replay-needed': alertKind({
    title: 'The gateway failed to process messages',
    measured: ({ messages = 0 }) =>
      messages === 1 ? 'One message waits.' : `${messages >= 1_000 ? '1,000 or more' : text(messages)} messages wait.`,
    todo: 'The gateway retries for nine hours. Contact the operator. Replay the remaining messages after the fault is fixed.',
    /** Sites with messages that failed more than 15 minutes ago. */
    facts: z.array(z.object({ ...of, messages: z.number() })),
    firing: (sites) => sites,
  }),
  'messages-ignored': alertKind({
    title: 'Rules ignore most messages of an API key',
    measured: ({ messages = 0, ignored = 0 }) =>
      `${text(ignored)} of the ${text(messages)} newest messages of the last half hour. The limit is ${MAX_IGNORED_PERCENT}%.`,
    todo: 'Check the rules of the key. Ignored messages are stored: replay them after the rules are changed.',
    /** The newest messages of the last half hour, by API key with rules. */
    facts: z.array(z.object({ ...of, messages: z.number(), ignored: z.number() })),
    firing: (keys, { firingAlert }) =>
      keys.filter((key) => {
        const share = (100 * key.ignored) / key.messages;
        // A share that varies around the limit is one alert.
        if (firingAlert(key) !== undefined) return share > MAX_IGNORED_PERCENT / 2;
        return key.messages >= MIN_REQUESTS && share > MAX_IGNORED_PERCENT;
      }),
  }),
  'changes-stalled': alertKind({
    title: 'The change feed is stalled',
    measured: ({ since = 0 }, firedAt) => `The oldest change has waited for ${minutesFrom(since, firedAt)}.`,
    todo:
      'Subscriptions get nothing new; nothing is lost. The operator checks the log for changes.failed, the jobs of the gateway, and ' +
      'pg_stat_activity for a transaction that does not end. After a restore from a dump, the operator runs npm run migrate.',
    /** The time since which a version of a site has no number, or a numbered change is not compared with filters. */
    facts: z.array(z.object({ ...of, since: ms })),
    firing: (sites, { now, checkedSince }) =>
      sites.filter(({ since }) => now - Math.max(since, checkedSince) > CHANGES_STALLED_MS),
  }),
  'subscription-failing': alertKind({
    title: 'Notifications of a client’s subscriptions are not accepted',
    measured: ({ subscriptions = 0, since = 0 }, firedAt) =>
      `${subscriptions === 1 ? '1 subscription' : `${text(subscriptions)} subscriptions`}, the first one for ${minutesFrom(since, firedAt)}.`,
    todo:
      'The page Subscriptions shows the last answer and has a test. Ask the client to check its receiver, then resume the ' +
      'subscription. Pause or delete a subscription that is not needed. No event is lost.',
    /** By API key: subscriptions with the status error, without an accepted notification for an hour, or an hour behind. */
    facts: z.array(z.object({ ...of, subscriptions: z.number(), since: ms })),
    firing: (keys) => keys,
  }),
} as const;

export type AlertKind = keyof typeof ALERT_KINDS;
// Object.keys loses the names' type.
export const ALERT_KIND_NAMES = Object.keys(ALERT_KINDS) as AlertKind[];
