/**
 * The work that looks for alerts once a minute: one round trip reads of all sites, the staff's OpenID provider is asked
 * for its discovery document, and what was decided is written.
 */
import * as z from 'zod';

import type { Config } from '../config.ts';
import { jobKind, type JobKind } from '../jobs/kind.ts';
import { ALERTS_KIND, readAlertFacts, writeAlerts } from '../store/alert.ts';
import { factsOf, firing } from './facts.ts';
import { decide } from './transition.ts';

/** Less than the minute between two looks, so that none is left out. */
const PAUSE_SECONDS = 50;
/** After a longer break, in which senders could not reach us either, all are waited for anew. */
const BREAK_MS = 5 * 60_000;

/** Milliseconds since the epoch, by the database's clock: the last look, and the first one without a break. */
const cursor = z.object({
  lookedAt: z.number().default(0),
  since: z.number().default(0),
  providerFailures: z.number().default(0),
});

/** @param isProviderAway asks the staff's OpenID provider; false where none is configured */
export const watchAlerts = (
  config: Pick<Config, 'TOKEN_SIGNING_KEYS'>,
  isProviderAway: () => Promise<boolean>,
): JobKind =>
  jobKind({
    kind: ALERTS_KIND,
    cursor,
    step: async ({ database, log }, job) => {
      // Only the first signs; the others wait for their turn, or for their tokens to end.
      const signing = config.TOKEN_SIGNING_KEYS.keys.slice(0, 1).map(({ kid }) => kid);
      const [[row], isAway] = await Promise.all([database.run(readAlertFacts(signing)), isProviderAway()]);
      if (row === undefined) throw new TypeError('alert_facts answers with a row');
      const facts = factsOf(row);
      const { lookedAt } = job.cursor;
      const [since, failedBefore] =
        facts.now - lookedAt > BREAK_MS ? [facts.now, 0] : [job.cursor.since, job.cursor.providerFailures];
      const providerFailures = isAway ? failedBefore + 1 : 0;
      const wrong = firing(facts, { since, providerFailures });
      const { alerts, notices } = decide(facts, wrong, () => crypto.randomUUID());
      for (const { site, kind, subject, openedAt, resolvedAt } of alerts) {
        if (openedAt === facts.now) log({ level: 'warn', event: 'alert.opened', site, reason: kind, subject });
        else if (resolvedAt === facts.now) log({ level: 'info', event: 'alert.resolved', site, reason: kind, subject });
      }
      return {
        cursor: { lookedAt: facts.now, since, providerFailures },
        progress: { done: job.progress.done + 1, total: null },
        isDone: false,
        pauseSeconds: PAUSE_SECONDS,
        writes: alerts.length + notices.length === 0 ? [] : [writeAlerts(alerts, notices)],
      };
    },
  });
