/** The job that serves the change feeds of all sites, also where a wake-up was lost. */
import * as z from 'zod';

import type { Config } from '../../config.ts';
import { jobKind, type JobKind } from '../../jobs/kind.ts';
import { CHANGES_KIND, sitesWithChanges } from '../../store/change-feed.ts';
import { serveSite, type ServingSites } from './serve-site.ts';

/** Less than the minute between two runs of the jobs, so that each run serves. */
const PAUSE_SECONDS = 20;
/** For all sites of a step, which must end within its lease. */
const BUDGET_MS = 20_000;
/** Sites that are served at once. */
const LANES = 6;

export const serveChanges = (
  serving: Omit<ServingSites, 'database'> & { readonly config: Pick<Config, 'FHIR_SUBSCRIPTIONS'> },
): JobKind =>
  jobKind({
    kind: CHANGES_KIND,
    cursor: z.object({}),
    step: async ({ database, now, log }, job) => {
      const isOn = serving.config.FHIR_SUBSCRIPTIONS;
      const until = now() + BUDGET_MS;
      const sites = isOn ? await database.run(sitesWithChanges()) : [];
      const lane = async (first: number): Promise<void> => {
        for (let n = first; n < sites.length; n += LANES) {
          const { site = '' } = sites[n] ?? {};
          await serveSite({ ...serving, database }, site, until).catch((error: unknown) =>
            log({ level: 'warn', event: 'changes.failed', site, error }),
          );
        }
      };
      await Promise.all(Array.from({ length: LANES }, (_, n) => lane(n)));
      return {
        cursor: {},
        progress: { done: job.progress.done + 1, total: null },
        isDone: !isOn,
        pauseSeconds: PAUSE_SECONDS,
        writes: [],
      };
    },
  });
