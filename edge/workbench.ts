/** What the console's workbench needs of the other slices, put together here because no slice imports another. */
import type { Workbench } from './admin/workbench/workbench.ts';
import type { Deps } from './deps.ts';
import { validate } from './fhir/validate/validate.ts';
import { dryRun } from './hl7/ingest/dry-run.ts';
import { reprocess } from './hl7/ingest/replay.ts';
import { createClientKeyring } from './oauth/client-keys.ts';
import { explainAssertion } from './oauth/explain-assertion.ts';

export function createWorkbench(deps: Deps): Workbench {
  const clientKeys = createClientKeyring(deps);
  return {
    explainAssertion: (site, assertion) => explainAssertion(deps, clientKeys, site, assertion),
    dryRun: (key, bytes, requestId) => dryRun(deps, key, bytes, requestId),
    replay: (site, messageId, requestId) => reprocess(deps, site, messageId, requestId),
    validate: (resource) => validate(resource),
  };
}
