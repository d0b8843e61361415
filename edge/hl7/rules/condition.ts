/** The conditions of rules. Each is about the message: it holds if any segment or repetition fits. */
import type { RulePath } from '../../../shared/hl7/rule-path.ts';
import type { RuleCondition } from '../../members/sender-rules.ts';
import { compilePattern } from '../../members/sender-rules/pattern.ts';
import type { EditedMessage } from './edited-message.ts';
import { hasValue, rawIn, repetitionsOf, selectedLines, selectsRepetition, textIn } from './selection.ts';
import { rulePath } from './verbs.ts';

export type Condition = (edited: EditedMessage) => boolean;

export function conditionOf({ path: text, is, equals, like }: RuleCondition): Condition {
  const path = rulePath(text);
  if (equals !== undefined) return (edited) => hasText(edited, path, (sent) => sent === equals);
  if (like === undefined) return (edited) => isPresent(edited, path) === (is === 'present');
  const match = compilePattern(like);
  return (edited) =>
    hasText(edited, path, (sent) => {
      // `*` fits any text, but not a missing one.
      if (sent === '') return false;
      const { matches, compared } = match(sent);
      edited.spend(compared >> 7);
      return matches;
    });
}

function isPresent(edited: EditedMessage, path: RulePath): boolean {
  const { field, component, subcomponent } = path;
  if (field === undefined) return selectedLines(edited, path).length > 0;
  return hasRepetition(edited, { ...path, field }, (raw) =>
    hasValue(rawIn(raw, component, subcomponent, edited.message), edited.message),
  );
}

const hasText = (edited: EditedMessage, path: RulePath, fits: (text: string) => boolean): boolean =>
  path.field !== undefined &&
  hasRepetition(edited, { ...path, field: path.field }, (raw) =>
    fits(textIn(raw, path.component, path.subcomponent, edited.message)),
  );

function hasRepetition(
  edited: EditedMessage,
  path: RulePath & { readonly field: number },
  fits: (raw: string) => boolean,
): boolean {
  for (const line of selectedLines(edited, path)) {
    const all = repetitionsOf(edited, line, path.field);
    if (all.some((raw, at) => selectsRepetition(raw, at + 1, path.repetitions, edited.message) && fits(raw)))
      return true;
  }
  return false;
}
