/** A message after rules, as tests compare it. */
import { applyRules, type Ruled, type RuledKind } from '../../../../edge/hl7/rules/apply.ts';
import { ruleOf } from '../../../../edge/hl7/mapping/tables/events.ts';
import { senderRules, type SenderRule } from '../../../../edge/members/sender-rules.ts';
import { readMessage, type Message } from '../../../../shared/hl7/message.ts';
import { valueAt } from '../../../../shared/hl7/value.ts';

export interface RuledLines extends Ruled {
  /** The segments behind MSH. */
  readonly lines: readonly string[];
  /** `1 PID^1^8 U>` of each change. */
  readonly changed: readonly string[];
}

export function kindOf(message: Message): RuledKind {
  const [msh] = message.named('MSH');
  const text = (field: number, component = 1): string =>
    (msh === undefined ? undefined : valueAt(msh, field, 1, component)) ?? '';
  const [messageType, triggerEvent] = [text(9), text(9, 2)];
  return {
    messageType,
    triggerEvent,
    rule: ruleOf(messageType, triggerEvent),
    application: text(3),
    facility: text(4),
  };
}

export function ruledMessage(rules: readonly unknown[], message: Message): RuledLines {
  const parsed: readonly SenderRule[] = senderRules.parse(rules);
  const ruled = applyRules(message, parsed, kindOf(message));
  const lines = ruled.message.segments.slice(1).map(({ raw }) => raw);
  const changed = ruled.changes.map(({ rule, at, before, after }) => `${rule} ${at} ${before}>${after}`);
  return { ...ruled, lines, changed };
}

/** @param type MSH-9 */
export const ruled = (rules: readonly unknown[], lines: readonly string[], type = 'ORU^R01'): RuledLines =>
  ruledMessage(rules, readMessage([`MSH|^~\\&|LAB|HOSP|GW|X|20260102||${type}|1|P|2.5.1`, ...lines].join('\r')));
