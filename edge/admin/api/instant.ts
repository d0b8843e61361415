/** The schema of instants that a caller sends to the API or a page. */
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';

/** PostgreSQL reads these texts as timestamptz: years from 1 on, at most 9 decimals, offsets that a time zone has. */
const STORABLE = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):\d\d)$/;
const EXPECTED =
  'must be an instant of the years 0001 to 9999, such as 2026-01-31T08:00:00Z, with an offset of at most 14 hours';

const given = z.iso.datetime({ offset: true, error: EXPECTED, abort: true }).regex(STORABLE, EXPECTED);

export const isInstant = (text: string): boolean => given.safeParse(text).success;

/** Empty if the parameter is absent. */
export const instant = z.union([z.literal(''), given], { error: EXPECTED }).default('');

interface Span {
  readonly from: string;
  readonly to: string;
}

/** True if the time span ends before it begins. */
export const isBackwards = ({ from, to }: Span): boolean =>
  from !== '' && to !== '' && Date.parse(from) > Date.parse(to);

/** A backward time span finds nothing, which reads as if nothing had happened. @throws Fault `kind` */
export function requireForward(span: Span, kind: 'malformed' | 'invalid' = 'malformed'): void {
  if (!isBackwards(span)) return;
  const issue = { code: 'invalid', message: 'must not be earlier than `from`', at: 'to' } as const;
  throw new Fault(kind, 'The time span ends before it begins.', { issues: [issue] });
}
