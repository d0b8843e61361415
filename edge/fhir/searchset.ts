/** The entries of a Bundle of type searchset (FHIR R4 search, 3.1.1.3.2; bundle, 2.36.4). */
import type { Issue } from '../../shared/fault.ts';
import { printJson } from '../../shared/json.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { outcome } from './outcome.ts';
import { resourceText, type Stored, urlOf } from './resource-answer.ts';
import type { Part } from './subset.ts';

/** @param mode `include`: added by `_include` */
export function resourceEntry(
  root: string,
  stored: Stored,
  part: Part | null,
  mode: 'match' | 'include' = 'match',
): string {
  const text = resourceText(stored.type, stored, part);
  return `{"fullUrl":"${urlOf(root, stored.type, stored.id)}","resource":${text},"search":{"mode":"${mode}"}}`;
}

/** The entry with the warnings about a search, which R4 gives a separate URL; empty without issues. */
export function warningEntries(issues: readonly Issue[], now: number): string[] {
  if (issues.length === 0) return [];
  return [
    `{"fullUrl":"urn:uuid:${uuidv7(now)}","resource":${printJson(outcome('warning', issues))},"search":{"mode":"outcome"}}`,
  ];
}
