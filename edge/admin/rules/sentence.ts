/** A rule of an API key as one plain sentence. */
import type { RuleCondition, SenderRule } from '../../members/sender-rules.ts';

const quoted = (text: string): string => `“${text}”`;

/** `A, B and C`. */
const joined = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;

/** More pairs of a map are counted. */
export const SHOWN_VALUES = 5;

function mapped({ path, values, otherwise }: Extract<SenderRule, { verb: 'map' }>): string {
  const pairs = Object.entries(values);
  const shown = pairs
    .slice(0, SHOWN_VALUES)
    .map(([from, to]) => `${quoted(from)} ${to === '' ? 'by nothing' : `by ${quoted(to)}`}`);
  const more = pairs.length - shown.length;
  const all = joined(more > 0 ? [...shown, `${more} more ${more === 1 ? 'value' : 'values'}`] : shown);
  return `in ${path}, replace ${all}${otherwise === 'clear' ? ', and clear any other value' : ''}`;
}

function authority(rule: Extract<SenderRule, { verb: 'authority' }>): string {
  const { path, namespace, universalId, universalIdType, replaces } = rule;
  const universal = [universalId, universalIdType].filter((part) => part !== undefined).join(', ');
  const only = replaces === undefined ? '' : `, where it is ${quoted(replaces)}`;
  return `set the assigning authority of ${path} to ${namespace}${universal === '' ? '' : ` (${universal})`}${only}`;
}

function deed(rule: SenderRule): string {
  switch (rule.verb) {
    case 'set':
      return `set ${rule.path} to ${quoted(rule.value)}`;
    case 'default':
      return `set ${rule.path} to ${quoted(rule.value)} where it is empty`;
    case 'copy':
      return `copy ${rule.from} to ${rule.path}`;
    case 'clear':
      return `clear ${rule.path}`;
    case 'drop':
      return `remove ${rule.path} from the message`;
    case 'map':
      return mapped(rule);
    case 'split':
      return `split ${rule.path} at ${quoted(rule.by)} into ${rule.into}`;
    case 'join':
      return `join the parts of ${rule.path} with ${quoted(rule.by)}`;
    case 'trim':
      return `remove white space around ${rule.path}`;
    case 'date':
      return `read ${rule.path} as ${rule.format}, and write it as an HL7 date`;
    case 'authority':
      return authority(rule);
    case 'ignore':
      return 'ignore the message';
    case 'reject':
      return `reject the message with the text ${quoted(rule.text)}`;
  }
}

function condition({ path, is, equals, like }: RuleCondition): string {
  if (equals !== undefined) return `${path} is ${quoted(equals)}`;
  if (like !== undefined) return `${path} is like ${quoted(like)}`;
  return `${path} is ${is === 'absent' ? 'absent or empty' : 'present'}`;
}

/** Returns the rule in words: `For ADT^A08, if PV1-2 is “E”: set PV1-18 to “ER”.` */
export function sentenceOf(rule: SenderRule): string {
  const { sender, when } = rule;
  const senders = [sender?.application, sender?.facility].filter((part) => part !== undefined).join(' / ');
  const scope = [
    when?.types === undefined ? '' : `for ${joined(when.types)}`,
    senders === '' ? '' : `from ${senders}`,
    when?.all === undefined || when.all.length === 0 ? '' : `if ${joined(when.all.map(condition))}`,
  ].filter((part) => part !== '');
  const text = scope.length === 0 ? deed(rule) : `${scope.join(', ')}: ${deed(rule)}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
