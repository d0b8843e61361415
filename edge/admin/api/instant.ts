/** The schema of instants that a caller sends to the API or a page. */
import * as z from 'zod';

/** PostgreSQL reads these texts as timestamptz: years from 1 on, at most 9 decimals, offsets that a time zone has. */
const STORABLE = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):\d\d)$/;
const EXPECTED =
  'must be an instant of the years 0001 to 9999, such as 2026-01-31T08:00:00Z, with an offset of at most 14 hours';

const given = z.iso.datetime({ offset: true, error: EXPECTED, abort: true }).regex(STORABLE, EXPECTED);

export const isInstant = (text: string): boolean => given.safeParse(text).success;

/** Empty if the parameter is absent. */
export const instant = z.union([z.literal(''), given], { error: EXPECTED }).default('');
