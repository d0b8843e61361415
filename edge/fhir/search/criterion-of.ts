/** One search parameter and its value as a criterion, or what is wrong with it. */
import type { TextModifier } from '../../store/search/kind.ts';
import { type Criterion, readCriterion, type PlainCriterion } from '../../store/search/kinds.ts';
import { codesWithoutSystem } from '../../store/search/kinds/token.ts';
import { MISSING } from '../../store/search/rows.ts';
import { badParameter } from '../controls/faults.ts';
import type { NamedParameter } from './named-parameter.ts';
import { splitValue, type ValueContext } from './values.ts';

/** The index names the parameters that a resource has no value for (store/search/extract.ts). */
function missing(name: string, indexedAs: string, value: string): Criterion {
  const criterion: PlainCriterion = { kind: 'token', param: MISSING, any: [{ system: '', value: indexedAs }] };
  if (value === 'true') return criterion;
  if (value === 'false') return { kind: 'not', of: criterion };
  throw badParameter(name, `${name} must be true or false`);
}

/**
 * @param name the parameter's name with its modifier, for messages
 * @param named `base` is the parameter's name at its type, if it is not in `name`
 * @param value as sent, URL-decoded
 * @throws Fault `malformed` that locates the parameter
 */
export function criterionOf(
  name: string,
  { parameter, modifier, base = name.split(':')[0] ?? name }: NamedParameter & { readonly base?: string },
  value: string,
  context: ValueContext,
): Criterion {
  if (value === '') throw badParameter(name, `${name} has no value`, 'required');
  if (value.includes('\0')) throw badParameter(name, `${name} contains a NUL character`);
  if (modifier?.kind === 'missing') return missing(name, modifier.indexedAs, value);
  const text: TextModifier | null = modifier?.kind === 'text' ? modifier.match : null;
  const read = readCriterion(parameter.kind, splitValue(value, context), base, text);
  if ('problem' in read) throw badParameter(name, `${name} ${read.problem}`);
  const isNot = modifier?.kind === 'not';
  let criterion = read;
  if (read.kind === 'token' && parameter.system !== undefined) {
    const any = codesWithoutSystem(read.any, parameter.system);
    if (any === undefined) return missing(name, base, String(isNot));
    criterion = { ...read, any };
  }
  return isNot ? { kind: 'not', of: criterion } : criterion;
}
