/** The entries of a Bundle of type searchset (FHIR R4 search, 3.1.1.3.2; bundle, 2.36.4). */
import type { Issue } from '../../shared/fault.ts';
import { printJson } from '../../shared/json.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { outcome } from './outcome.ts';
import { resourceText, type Stored, urlOf } from './resource-answer.ts';
import type { Part } from './subset.ts';

export function matchEntry(root: string, stored: Stored, part: Part | null): string {
  const text = resourceText(stored.type, stored, part);
  return `{"fullUrl":"${urlOf(root, stored.type, stored.id)}","resource":${text},"search":{"mode":"match"}}`;
}

/** What is not as it was asked for, as R4 has it said: an entry of its own, with a URL of its own. None without issues. */
export function warningEntries(issues: readonly Issue[], now: number): string[] {
  if (issues.length === 0) return [];
  return [
    `{"fullUrl":"urn:uuid:${uuidv7(now)}","resource":${printJson(outcome('warning', issues))},"search":{"mode":"outcome"}}`,
  ];
}
