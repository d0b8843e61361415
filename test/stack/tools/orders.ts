/** The orders in which the messages of a history arrive. */
import { isFull } from './size.ts';

/** Every order of a list. */
export function ordersOf<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length < 2) return [list];
  return list.flatMap((item, at) => ordersOf(list.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

/** How many of the orders the normal size has. */
const SOME = 4;

/** Orders of a list, at full size every one. The given order and its reverse are always among them. */
export function someOrdersOf<T>(list: readonly T[]): readonly (readonly T[])[] {
  const all = ordersOf(list);
  const step = isFull ? 1 : Math.ceil((all.length - 1) / (SOME - 1));
  return all.filter((_, at) => at % step === 0 || at === all.length - 1);
}
