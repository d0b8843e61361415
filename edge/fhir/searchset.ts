/** The entries of a Bundle of type searchset (FHIR R4 search, 3.1.1.3.2; bundle, 2.36.4). */
import type { Issue } from '../../shared/fault.ts';
import { type JsonObject, printJson } from '../../shared/json.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { outcome } from './outcome.ts';
import { resourceText, type Stored, urlOf } from './resource-answer.ts';
import type { Part } from './subset.ts';

/** @param search members of `entry.search`; `mode` is `include` for what `_include` added */
export function resourceEntry(
  root: string,
  stored: Stored,
  part: Part | null,
  search: JsonObject & { readonly mode: 'match' | 'include' } = { mode: 'match' },
): string {
  const text = resourceText(stored.type, stored, part);
  const url = urlOf(root, stored.type, stored.id);
  return `{"fullUrl":"${url}","resource":${text},"search":${JSON.stringify(search)}}`;
}

/** The entry with the warnings about a search, which R4 gives a separate URL; empty without issues. */
export function warningEntries(issues: readonly Issue[], now: number): string[] {
  if (issues.length === 0) return [];
  return [
    `{"fullUrl":"urn:uuid:${uuidv7(now)}","resource":${printJson(outcome('warning', issues))},"search":{"mode":"outcome"}}`,
  ];
}
