/** A place in a message (ERR-2), as people write it. */
import { pathOf } from '../../../shared/hl7/value.ts';

/** @param at `PID^1^3^1^4`: shown as `PID-3.4` */
export const Path = ({ at }: { at: string }) => {
  const [segment = '', sequence = '', field, repetition, ...below] = at.split('^');
  const isComplete =
    (repetition === undefined || repetition === '1') && below.length > 0 && below.every((part) => part === '1');
  return <code>{pathOf(isComplete && field !== undefined ? [segment, sequence, field].join('^') : at)}</code>;
};
