/** What the console's workbench needs of the other slices, put together here because no slice imports another. */
import type { Workbench } from './admin/workbench/workbench.ts';
import type { Deps } from './deps.ts';
import { validate } from './fhir/validate/validate.ts';
import { dryRun } from './hl7/ingest/dry-run.ts';
import { reprocess } from './hl7/ingest/replay.ts';
import { explainAssertion } from './oauth/assertion/explain.ts';
import type { ClientKeyring } from './oauth/client-keys.ts';

export function createWorkbench(deps: Deps, clientKeys: ClientKeyring): Workbench {
  return {
    explainAssertion: (site, assertion) => explainAssertion(deps, clientKeys, site, assertion),
    dryRun: (key, bytes, requestId) => dryRun(deps, key, bytes, requestId),
    replay: (site, messageId, actor, requestId) => reprocess(deps, site, messageId, actor, requestId),
    validate: (resource) => validate(resource),
  };
}
