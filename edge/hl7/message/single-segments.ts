/** The statements of segments that are a resource by themselves: those of the registry's table. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { hasConcept } from '../mapping/datatypes/cwe.ts';
import { contributionsOf } from '../mapping/field-map.ts';
import { timed } from '../precedence/clock.ts';
import { RESOURCE_SEGMENTS } from '../mapping/segments/registry.ts';
import type { ResourceSegment } from '../mapping/segments/rule.ts';
import type { Statement } from '../mapping/statement.ts';
import type { Report } from './structure-findings.ts';

const BY_NAME: ReadonlyMap<string, ResourceSegment> = new Map(RESOURCE_SEGMENTS.map((rule) => [rule.name, rule]));

/**
 * @param recorded EVN-2
 * @param sender the authority of numbers without one
 */
export function singleSegments(
  members: readonly Segment[],
  recorded: string | undefined,
  sender: string,
  report: Report,
): Statement[] {
  return members.flatMap((segment): Statement[] => {
    const rule = BY_NAME.get(segment.id);
    if (rule === undefined) return [];
    if (rule.requiresOneOf.some((field) => hasConcept(segment, field)))
      return [statementOf(segment, rule, recorded, sender)];
    const [field] = rule.requiresOneOf;
    const message = `${segment.id}-${field} is empty. The segment has no content and was not mapped.`;
    report({ code: '101', severity: 'W', at: locate(segment, field), message, reason: 'required-field-missing' });
    return [];
  });
}

function statementOf(segment: Segment, rule: ResourceSegment, recorded: string | undefined, sender: string): Statement {
  const { type, key, subject = 'subject', scope, general, fields } = rule;
  return {
    type,
    key: key(segment, sender),
    segment,
    timing: timed(recorded),
    subject,
    scope,
    contributions: (_chart, context) => [...general(segment, context), ...contributionsOf(segment, fields, context)],
  };
}
