/** The statements of segments that are a resource by themselves: those of the registry's table. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { hasConcept } from '../mapping/datatypes/cwe.ts';
import { contributionsOf } from '../mapping/field-map.ts';
import { timed } from '../precedence/clock.ts';
import { fieldText } from '../mapping/datatypes/text.ts';
import { RESOURCE_SEGMENTS } from '../mapping/segments/registry.ts';
import type { ResourceSegment } from '../mapping/segments/rule.ts';
import type { Statement } from '../mapping/statement.ts';
import type { EventRule } from '../mapping/tables/events.ts';
import type { MessageKind } from './message-kind.ts';
import type { Report } from './structure-findings.ts';

const BY_NAME: ReadonlyMap<string, ResourceSegment> = new Map(RESOURCE_SEGMENTS.map((rule) => [rule.name, rule]));

/** @param recorded EVN-2 */
export function singleSegments(
  members: readonly Segment[],
  recorded: string | undefined,
  { sender, rule: event }: Pick<MessageKind, 'sender' | 'rule'>,
  report: Report,
): Statement[] {
  return members.flatMap((segment): Statement[] => {
    const rule = BY_NAME.get(segment.id);
    if (rule === undefined) return [];
    if (rule.requiresOneOf.some((field) => hasConcept(segment, field)))
      return [statementOf(segment, rule, recorded, sender, event)];
    const [field] = rule.requiresOneOf;
    const message = `${segment.id}-${field} is empty. The segment has no content and was not mapped.`;
    report({ code: '101', severity: 'W', at: locate(segment, field), message, reason: 'required-field-missing' });
    return [];
  });
}

/** @param sender the authority of numbers without one */
function statementOf(
  segment: Segment,
  rule: ResourceSegment,
  recorded: string | undefined,
  sender: string,
  event: EventRule,
): Statement {
  const { type, key, subject = 'subject', scope, general, fields, time, refersTo } = rule;
  return {
    type,
    key: key(segment, sender, event),
    segment,
    timing: timed(time === undefined ? undefined : fieldText(segment, time), recorded),
    subject,
    scope,
    ...(refersTo !== undefined && { refersTo: refersTo(segment) }),
    contributions: (_chart, context) => [
      ...general(segment, context, event),
      ...contributionsOf(segment, fields, context),
    ],
  };
}
