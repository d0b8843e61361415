/** Every kind of background work, one a row. A release leaves jobs of kinds that it does not know to those that do. */
import { postNotices } from './alerts/notices.ts';
import { watchAlerts } from './alerts/watch.ts';
import type { Deps } from './deps.ts';
import { REINDEX } from './fhir/search/reindex.ts';
import { replayMany } from './hl7/replay/replay-many.ts';
import { retryFailed } from './hl7/replay/retry-failed.ts';
import type { JobKind } from './jobs/kind.ts';
import { RETENTION } from './jobs/retention.ts';

export const jobKinds = (deps: Pick<Deps, 'config' | 'fetch' | 'fetchAt' | 'resolveHost'>): readonly JobKind[] => [
  REINDEX,
  RETENTION,
  replayMany(deps.config),
  retryFailed(deps.config),
  watchAlerts(deps.config),
  postNotices(deps),
];
