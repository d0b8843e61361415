/** What the console's workbench needs of the other slices, put together here because no slice imports another. */
import type { Workbench } from './admin/workbench/workbench.ts';
import type { Deps } from './deps.ts';
import { validate } from './fhir/validate/validate.ts';
import { dryRun } from './hl7/ingest/dry-run.ts';
import { previewReplay, reprocess } from './hl7/ingest/replay.ts';
import { explainAssertion } from './oauth/assertion/explain.ts';
import type { ClientKeyring } from './oauth/client-keys.ts';

export function createWorkbench(deps: Deps, clientKeys: ClientKeyring): Workbench {
  return {
    explainAssertion: (site, assertion) => explainAssertion(deps, clientKeys, site, assertion),
    dryRun: (key, bytes, requestId) => dryRun(deps, key, bytes, requestId),
    previewReplay: (site, messageId, requestId) => previewReplay(deps, site, messageId, requestId),
    replay: (site, messageId, { actor, isForced }, requestId) =>
      reprocess(deps, site, messageId, { why: isForced ? 'forced' : 'replayed', actor, jobId: null }, requestId),
    validate: (resource) => validate(resource),
  };
}
