/**
 * Applies the rules of a sender to a message before it is mapped. Each rule sees the result of the rules before it. The bytes
 * of the message, its answer and its duplicates stay those of the sent message.
 */
import type { Message } from '../../../shared/hl7/message.ts';
import type { SenderRule } from '../../members/sender-rules.ts';
import { nameKey } from '../../store/patient-identity.ts';
import type { EventRule } from '../mapping/tables/events.ts';
import { conditionOf, type Condition } from './condition.ts';
import { EditedMessage, TooCostly, type Change } from './edited-message.ts';
import { mayBeIgnored } from './retraction.ts';
import { editOf, type Edit } from './verbs.ts';

export type { Change };

/** The facts of a message that decide which rules apply to it. */
export interface RuledKind {
  readonly messageType: string;
  readonly triggerEvent: string;
  /** Undefined for a message that is not mapped. */
  readonly rule: EventRule | undefined;
  /** MSH-3.1 and MSH-4.1. */
  readonly application: string;
  readonly facility: string;
}

type RuleVerdict =
  | { readonly kind: 'ignore'; readonly rule: number }
  | { readonly kind: 'reject'; readonly rule: number; readonly text: string };

/** A message after its rules. */
export interface Ruled {
  /** The message itself if no rule changed it. */
  readonly message: Message;
  /** The first 1,000. */
  readonly changes: readonly Change[];
  /** The rule that ended the processing; rules behind it were not applied. */
  readonly verdict: RuleVerdict | undefined;
  /** The rules need too much work for this message, which is unchanged. */
  readonly tooCostly: boolean;
  /** Translates a location in the changed message (`OBX^3^5^1^2`) to one in the sent message. */
  readonly placeOf: (at: string) => string;
}

interface Compiled {
  readonly application: string | undefined;
  readonly facility: string | undefined;
  readonly types: ReadonlySet<string> | undefined;
  readonly conditions: readonly Condition[];
  readonly action: Edit | 'ignore' | { readonly reject: string };
}

/** A key's rules are applied to each of its messages. */
const COMPILED = new WeakMap<readonly SenderRule[], readonly Compiled[]>();

/** @param rules valid by `senderRules`; the same list for each message, since it is compiled once */
export function applyRules(message: Message, rules: readonly SenderRule[], kind: RuledKind): Ruled {
  const compiled = compiledOf(rules);
  const edited = new EditedMessage(message, kind.messageType);
  const unchanged = { message, changes: [], placeOf: (at: string) => at };
  try {
    const verdict = applyAll(edited, compiled, kind);
    const result = edited.print();
    if (result === message) return { ...unchanged, verdict, tooCostly: false };
    return {
      message: result,
      // Few readers need them.
      get changes() {
        return edited.changes();
      },
      verdict,
      tooCostly: false,
      placeOf: (at) => edited.placeOf(at),
    };
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    return { ...unchanged, verdict: undefined, tooCostly: true };
  }
}

function applyAll(edited: EditedMessage, rules: readonly Compiled[], kind: RuledKind): RuleVerdict | undefined {
  const [application, facility] = [kind.application, kind.facility].map(nameKey);
  const event = `${kind.messageType}^${kind.triggerEvent}`;
  for (const [at, rule] of rules.entries()) {
    if (rule.application !== undefined && rule.application !== application) continue;
    if (rule.facility !== undefined && rule.facility !== facility) continue;
    if (rule.types !== undefined && !rule.types.has(kind.messageType) && !rule.types.has(event)) continue;
    if (!rule.conditions.every((holds) => holds(edited))) continue;
    const { action } = rule;
    const number = at + 1;
    if (typeof action === 'function') action(edited, number);
    else if (action !== 'ignore') return { kind: 'reject', rule: number, text: action.reject };
    else if (mayBeIgnored(edited, kind.triggerEvent, kind.rule)) return { kind: 'ignore', rule: number };
  }
  return undefined;
}

function compiledOf(rules: readonly SenderRule[]): readonly Compiled[] {
  const known = COMPILED.get(rules);
  if (known !== undefined) return known;
  const compiled = rules.map(compile);
  COMPILED.set(rules, compiled);
  return compiled;
}

function compile(rule: SenderRule): Compiled {
  const { sender, when } = rule;
  const keyOf = (name: string | undefined): string | undefined => (name === undefined ? undefined : nameKey(name));
  return {
    application: keyOf(sender?.application),
    facility: keyOf(sender?.facility),
    types: when?.types === undefined ? undefined : new Set(when.types),
    conditions: (when?.all ?? []).map(conditionOf),
    action: actionOf(rule),
  };
}

function actionOf(rule: SenderRule): Compiled['action'] {
  if (rule.verb === 'ignore') return 'ignore';
  return rule.verb === 'reject' ? { reject: rule.text } : editOf(rule);
}
