/** The job that serves the change feeds of all sites, also where a wake-up was lost. */
import * as z from 'zod';

import type { Config } from '../config.ts';
import { jobKind, type JobKind } from '../jobs/kind.ts';
import { CHANGES_KIND, sitesWithChanges } from '../store/change-feed.ts';
import { serveSite } from './serve-site.ts';

/** Less than the minute between two runs of the jobs, so that each run serves. */
const PAUSE_SECONDS = 20;
/** For all sites of a step, which must end within its lease. */
const BUDGET_MS = 20_000;

export const serveChanges = (config: Pick<Config, 'FHIR_SUBSCRIPTIONS'>): JobKind =>
  jobKind({
    kind: CHANGES_KIND,
    cursor: z.object({}),
    step: async (deps, job) => {
      const until = deps.now() + BUDGET_MS;
      const sites = config.FHIR_SUBSCRIPTIONS ? await deps.database.run(sitesWithChanges()) : [];
      await Promise.all(
        sites.map(({ site }) =>
          serveSite(deps, site, until).catch((error: unknown) =>
            deps.log({ level: 'warn', event: 'changes.failed', site, error }),
          ),
        ),
      );
      return {
        cursor: {},
        progress: { done: job.progress.done + 1, total: null },
        isDone: !config.FHIR_SUBSCRIPTIONS,
        pauseSeconds: PAUSE_SECONDS,
        writes: [],
      };
    },
  });
