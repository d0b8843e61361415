/** Every kind of background job, one per row. A release leaves jobs of unknown kinds to other releases. */
import { postNotices } from './alerts/notices.ts';
import { watchAlerts } from './alerts/watch.ts';
import type { Deps } from './deps.ts';
import { createProvider } from './admin/staff/provider.ts';
import { REINDEX } from './fhir/search/reindex.ts';
import { serveChanges } from './fhir/subscriptions/job.ts';
import { COMPARE_ALIKE } from './hl7/alike/job.ts';
import { replayMany } from './hl7/ingest/replay/replay-job.ts';
import { retryFailed } from './hl7/ingest/replay/retry-job.ts';
import { tryRules } from './hl7/ingest/replay/rules-trial.ts';
import type { JobKind } from './jobs/kind.ts';
import { RETENTION } from './jobs/retention.ts';

type Working = Pick<
  Deps,
  'config' | 'share' | 'fetch' | 'fetchAt' | 'resolveHost' | 'now' | 'background' | 'wake' | 'log'
>;

/** True if staff cannot sign in. A console that is not configured counts as intended. */
async function isProviderDown(deps: Working): Promise<boolean> {
  const { ADMIN_PUBLIC_BASE_URL, ADMIN_OIDC_ISSUER, ADMIN_OIDC_CLIENT_ID } = deps.config;
  if (ADMIN_PUBLIC_BASE_URL === undefined || ADMIN_OIDC_ISSUER === undefined || ADMIN_OIDC_CLIENT_ID === undefined)
    return false;
  // A new provider, because the console's own caches the discovery document for an hour.
  return createProvider(deps)().then(
    () => false,
    () => true,
  );
}

export const jobKinds = (deps: Working): readonly JobKind[] => [
  REINDEX,
  RETENTION,
  COMPARE_ALIKE,
  replayMany(deps),
  retryFailed(deps),
  tryRules(deps),
  watchAlerts(deps.config, () => isProviderDown(deps)),
  postNotices(deps),
  serveChanges(deps),
];
