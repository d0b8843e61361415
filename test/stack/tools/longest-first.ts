/**
 * The order in which a run takes test files: the longest first, so that all workers end together. A file is weighed by what is
 * known of it here, not by earlier runs, since a run on a fresh clone has none.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those of ten seconds and more, the longest first. */
const LONGEST: readonly string[] = [
  'contract/fhir.test.ts',
  'e2e/console/pages.test.ts',
  'e2e/console/messages.test.ts',
  'e2e/console/keys.test.ts',
  'e2e/console/frame.test.ts',
  'contract/database-away.test.ts',
  'contract/transport.test.ts',
  'contract/oauth-operations.test.ts',
  'contract/hl7.test.ts',
  'e2e/admin-cli.test.ts',
  'integration/store/fhir-plans.test.ts',
  'contract/admin-sessions.test.ts',
  'e2e/sidecar-faults.test.ts',
  'contract/database-ailing.test.ts',
  'e2e/sidecar-limits.test.ts',
  'contract/hl7-exactly-once.test.ts',
  'contract/oauth-jwks-uri.test.ts',
  'e2e/stack.test.ts',
  'contract/oauth.test.ts',
  'e2e/sidecar.test.ts',
  'contract/admin-messages.test.ts',
];

/** All others: those that start the most before those that start nothing. */
const FOLDERS: readonly string[] = ['e2e/', 'contract/', 'integration/', 'unit/'];

/** @returns its place among the files, small for those that come first */
function placeOf({ moduleId }: TestSpecification): number {
  const path = moduleId.replace(/^.*\/test\//, '');
  const known = LONGEST.indexOf(path);
  return known >= 0 ? known : LONGEST.length + FOLDERS.findIndex((folder) => path.startsWith(folder));
}

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
