/** One search parameter and its value as a criterion, or what is wrong with it. */
import { type Criterion, readCriterion } from '../../store/search/kinds.ts';
import type { SearchParameter } from '../../store/search/parameters.ts';
import { badParameter } from '../controls/faults.ts';
import { splitValue, type ValueContext } from './values.ts';

/**
 * @param name the parameter's name, for messages
 * @param value as sent, URL-decoded
 * @throws Fault `malformed` that locates the parameter
 */
export function criterionOf(name: string, parameter: SearchParameter, value: string, context: ValueContext): Criterion {
  if (value === '') throw badParameter(name, `${name} has no value`, 'required');
  if (value.includes('\0')) throw badParameter(name, `${name} contains a NUL character`);
  const criterion = readCriterion(parameter.kind, splitValue(value, context), name);
  if ('problem' in criterion) throw badParameter(name, `${name} ${criterion.problem}`);
  return criterion;
}
