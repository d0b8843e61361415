/**
 * Finds a repetition that contains the text before it, as `[A-Z ]*` in /BEGIN [A-Z ]*KEY/. In `BEGIN BEGIN BEGIN …` the
 * engine begins at each word and reads to the end of the text, so the time is quadratic. `scslre` finds a repetition that is
 * moved only at the start of an expression.
 */
import { type Concatenation, type Element, isDisjointWith, JS, NFA, type NoParent } from 'refa';

/** `^` of a whole text, which is "behind no character": the engine begins once. */
const isAtStart = (element: NoParent<Element>): boolean =>
  element.type === 'Assertion' &&
  element.kind === 'behind' &&
  element.negate &&
  element.alternatives.some(
    ({ elements: [first, ...others] }) =>
      first?.type === 'CharacterClass' && first.characters.isAll && others.length === 0,
  );

export function hasRepeatedStart(source: string, flags: string): boolean {
  // A sticky expression begins at one place.
  if (flags.includes('y')) return false;
  const { expression, maxCharacter } = JS.Parser.fromLiteral({ source, flags }).parse({ backreferences: 'unknown' });
  const automaton = (elements: readonly NoParent<Element>[]): NFA =>
    NFA.fromRegex(
      { type: 'Concatenation', elements: [...elements] },
      { maxCharacter },
      // An automaton has no places, so an assertion counts as always true.
      { assertions: 'ignore', unknowns: 'disable' },
    );
  const anywhere = (elements: readonly NoParent<Element>[]): NFA => {
    const text = NFA.all({ maxCharacter });
    text.append(automaton(elements));
    text.append(NFA.all({ maxCharacter }));
    return text;
  };
  const mayBeEmpty = (elements: readonly NoParent<Element>[]): boolean => automaton(elements).test([]);
  const canFail = (after: readonly NoParent<Element>[]): boolean =>
    after.some(({ type }) => type === 'Assertion') || !mayBeEmpty(after);

  const isFound = (
    { elements }: NoParent<Concatenation>,
    before: readonly NoParent<Element>[],
    after: readonly NoParent<Element>[],
  ): boolean =>
    elements.some((element, at) => {
      const start = [...before, ...elements.slice(0, at)];
      const rest = [...elements.slice(at + 1), ...after];
      if (start.some(isAtStart)) return false;
      const isRepeated = element.type === 'Quantifier' && element.max === Infinity;
      if (isRepeated && !mayBeEmpty(start) && canFail(rest)) {
        if (!isDisjointWith(anywhere(start), automaton([element]))) return true;
      }
      if (element.type === 'Assertion' || !('alternatives' in element)) return false;
      return element.alternatives.some((each) => isFound(each, start, rest));
    });
  return expression.alternatives.some((each) => isFound(each, [], []));
}
