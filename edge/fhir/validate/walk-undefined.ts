/**
 * Walks a contained resource whose type is not in the table. It checks the rules of all JSON in FHIR (FHIR R4, JSON §2.6.2): no
 * empty values, no stray null, and texts that can be stored.
 */
import { isJsonObject, type Json } from '../../../shared/json.ts';
import type { Findings } from './findings.ts';
import { checkText } from './primitives.ts';

/** Walks one value, and notes the `#id` texts in it: any of them may be a reference. */
export function walkUndefined(findings: Findings, localReferences: Set<string>, value: Json): void {
  if (typeof value === 'string') {
    const wrong = checkText(value);
    if (wrong !== undefined) findings.add('value', wrong);
    if (value.startsWith('#')) localReferences.add(value);
    return;
  }
  if (value === null) return findings.add('structure', 'must not be null');
  if (Array.isArray(value)) {
    if (value.length === 0) return findings.add('structure', 'must not be an empty array');
    for (const [i, item] of value.entries()) {
      if (findings.enter(i)) {
        if (Array.isArray(item)) findings.add('structure', 'must not be an array');
        // In a list of primitives, null replaces a value with extensions; the type is unknown here.
        else if (item !== null) walkUndefined(findings, localReferences, item);
      }
      findings.leave();
    }
    return;
  }
  if (!isJsonObject(value)) return;
  const members = Object.entries(value);
  if (members.length === 0) findings.add('structure', 'must not be an empty object');
  for (const [member, below] of members) {
    if (findings.enter(member)) walkUndefined(findings, localReferences, below);
    findings.leave();
  }
}
