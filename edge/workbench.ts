/** The parts of other slices that the console's workbench needs, assembled here because slices do not import each other. */
import type { Workbench } from './admin/workbench/workbench.ts';
import type { Deps } from './deps.ts';
import { filterProblem, testNotification, topicTypes } from './fhir/subscriptions/administer.ts';
import { validate } from './fhir/validate/validate.ts';
import { dryRun } from './hl7/ingest/replay/dry-run.ts';
import { previewReplay, reprocess, ruleChanges } from './hl7/ingest/replay/replay.ts';
import { applyUndo, previewUndo } from './hl7/ingest/undo-merge.ts';
import { explainAssertion } from './oauth/assertion/explain.ts';
import type { ClientKeyring } from './oauth/client-keys.ts';

export function createWorkbench(deps: Deps, clientKeys: ClientKeyring): Workbench {
  return {
    explainAssertion: (database, site, assertion) =>
      explainAssertion({ ...deps, database }, clientKeys, site, assertion),
    dryRun: (database, key, bytes, requestId, which) => dryRun({ ...deps, database }, key, bytes, requestId, which),
    previewReplay: (database, site, messageId, requestId, which) =>
      previewReplay({ ...deps, database }, site, messageId, requestId, which),
    ruleChanges: (database, site, messageId, version, requestId) =>
      ruleChanges({ ...deps, database }, site, messageId, version, requestId),
    replay: (database, site, messageId, { author, comment, by, isForced }, requestId) => {
      const attempt = { why: isForced ? 'forced' : 'replayed', actor: author, comment, jobId: null, by } as const;
      return reprocess({ ...deps, database }, site, messageId, attempt, requestId);
    },
    previewUndo: (database, site, mergeId) => previewUndo({ ...deps, database }, site, mergeId),
    undoMerge: (database, site, mergeId, asked) => applyUndo({ ...deps, database }, site, mergeId, asked),
    validate: (resource) => validate(resource),
    topicTypes: () => topicTypes(deps.config),
    filterProblem: (type, filter) => filterProblem(deps.config, deps.now(), type, filter),
    testNotification: (subscription) => testNotification(deps.config, deps.now(), subscription),
  };
}
