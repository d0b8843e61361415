/**
 * The order in which a run takes test files: the longest first, so that all workers end together. The weights are
 * in this file instead of earlier runs, since a fresh clone has none.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those of fifteen seconds and more when two cores run the suite, and the longest unit tests, the longest first. */
const LONGEST: readonly string[] = [
  'contract/fhir.test.ts',
  'e2e/reference.test.ts',
  'e2e/box.test.ts',
  'contract/hl7.test.ts',
  'contract/hl7-scans.test.ts',
  'e2e/stack.test.ts',
  'e2e/console/messages.test.ts',
  'e2e/console/pages.test.ts',
  'e2e/deploy-chapter.test.ts',
  'contract/oauth-operations.test.ts',
  'contract/fhir-us-core.test.ts',
  'contract/transport.test.ts',
  'e2e/console/frame.test.ts',
  'contract/admin-keys.test.ts',
  'contract/fuzz.test.ts',
  'e2e/sidecar-limits.test.ts',
  'e2e/sidecar-faults.test.ts',
  'contract/fhir-limits.test.ts',
  'contract/oauth.test.ts',
  'e2e/console/keys.test.ts',
  'e2e/console/workbench.test.ts',
  'contract/database-away.test.ts',
  'contract/hl7-exactly-once.test.ts',
  'contract/fhir-subscriptions.test.ts',
  'contract/admin-sessions.test.ts',
  'e2e/sidecar.test.ts',
  'e2e/console/key-in-a-minute.test.ts',
  'contract/admin-messages.test.ts',
  'e2e/key-examples.test.ts',
  'contract/deno-program.test.ts',
  'contract/admin-audit.test.ts',
  'contract/database-ailing.test.ts',
  'contract/oauth-jwks-uri.test.ts',
  'integration/stack/postgres.test.ts',
  'e2e/outages.test.ts',
  'integration/store/fhir-plans.test.ts',
  'integration/hl7/identity.test.ts',
  'integration/hl7/precedence.test.ts',
  'integration/hl7/many-results.test.ts',
  'unit/growth.test.ts',
];

/**
 * A worker takes the next file only from its project, so the files of a project stay together. The project with the most
 * services is the first.
 */
const PROJECTS: readonly string[] = ['gateway', 'alone', 'long', 'database', 'unit'];

/** All others: those that start the most before those that start nothing. */
const FOLDERS: readonly string[] = ['e2e/', 'contract/', 'integration/', 'unit/'];

/** @returns its place among the files of its project, small for those that come first */
function placeOf({ moduleId }: TestSpecification): number {
  const path = moduleId.replace(/^.*\/test\//, '');
  const known = LONGEST.indexOf(path);
  return known >= 0 ? known : LONGEST.length + FOLDERS.findIndex((folder) => path.startsWith(folder));
}

const projectOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => projectOf(one) - projectOf(other) || placeOf(one) - placeOf(other));
  }
}
