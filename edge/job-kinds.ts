/** Every kind of background work, one a row. A release leaves jobs of kinds that it does not know to those that do. */
import { REINDEX } from './fhir/search/reindex.ts';
import type { JobKind } from './jobs/kind.ts';

export const JOB_KINDS: readonly JobKind[] = [REINDEX];
