/**
 * The job that checks the alerts of all sites once a minute. One round trip reads the facts, one request checks the staff's
 * OpenID provider, and the job's write stores the changes.
 */
import * as z from 'zod';

import type { Config } from '../config.ts';
import { jobKind, type JobKind } from '../jobs/kind.ts';
import { ALERTS_KIND, readAlertFacts, writeAlerts } from '../store/alert.ts';
import { JOB_LIMITS } from '../store/time-limits.ts';
import { alertFactsOf, firingAlerts } from './facts.ts';
import { changeAlerts } from './transition.ts';

/** Less than the minute between two runs of the jobs, so that every run checks. */
const PAUSE_SECONDS = 50;
/** After a longer break, in which senders could not reach the gateway either, the silence of each feed counts from its end. */
const BREAK_MS = 5 * 60_000;

/** Milliseconds since the epoch, by the database's clock. `since`: the first check after the last break. */
const cursor = z.object({
  checkedAt: z.number().default(0),
  since: z.number().default(0),
  providerFailures: z.number().default(0),
});

/** @param isProviderAway requests the provider's discovery document; false if no provider is configured */
export const watchAlerts = (
  config: Pick<Config, 'TOKEN_SIGNING_KEYS'>,
  isProviderAway: () => Promise<boolean>,
): JobKind =>
  jobKind({
    kind: ALERTS_KIND,
    cursor,
    step: async ({ database, log }, job) => {
      // Only the first key signs.
      const signing = config.TOKEN_SIGNING_KEYS.keys.slice(0, 1).map(({ kid }) => kid);
      const [[row], isAway] = await Promise.all([database.run(readAlertFacts(signing), JOB_LIMITS), isProviderAway()]);
      if (row === undefined) throw new TypeError('alert_facts returns a row');
      const facts = alertFactsOf(row.facts);
      const { checkedAt } = job.cursor;
      const [since, failedBefore] =
        facts.now - checkedAt > BREAK_MS ? [facts.now, 0] : [job.cursor.since, job.cursor.providerFailures];
      const providerFailures = isAway ? failedBefore + 1 : 0;
      const firing = firingAlerts(facts, { checkedSince: since, providerFailures });
      const { alerts, notices } = changeAlerts(facts, firing, () => crypto.randomUUID());
      for (const { site, kind, subject, firingSince, resolvedAt } of alerts) {
        if (firingSince === facts.now) log({ level: 'warn', event: 'alert.firing', site, reason: kind, subject });
        else if (resolvedAt === facts.now) log({ level: 'info', event: 'alert.resolved', site, reason: kind, subject });
      }
      return {
        cursor: { checkedAt: facts.now, since, providerFailures },
        progress: { done: job.progress.done + 1, total: null },
        isDone: false,
        pauseSeconds: PAUSE_SECONDS,
        writes: alerts.length + notices.length === 0 ? [] : [writeAlerts(alerts, notices)],
      };
    },
  });
