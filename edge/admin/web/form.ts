/** Forms of the console: read within a limit, every value of a name kept. */
import type { z } from 'zod';

import { Fault } from '../../../shared/fault.ts';
import { decodeUtf8, readBody } from '../../http/body.ts';
import { parse } from '../api/parse.ts';

/**
 * What is asked of a page, as the JSON API would read it; parameters that only a page knows are left out.
 *
 * @throws Fault `malformed`
 */
export const readQuery = <Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, query: Record<string, string>) =>
  parse(schema.strip(), query, 'malformed', 'the query');

/** @throws Fault 400, 413 or 415 */
export async function readForm(request: Request, maxBytes = 256 * 1024): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers.get('content-type') ?? '')) {
    throw new Fault('unsupported-media-type', 'this page sends application/x-www-form-urlencoded');
  }
  return new URLSearchParams(decodeUtf8(await readBody(request, maxBytes)));
}

/** What `datetime-local` sends, read as UTC; anything else finds as if it were not given. */
export const instantOfLocal = (local: string | undefined): string =>
  local !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/.test(local) && !Number.isNaN(Date.parse(`${local}Z`))
    ? `${local}Z`
    : '';

/** Messages by field, of a Fault's issues; `allowedIps[2]` belongs to `allowedIps`. */
export function errorsByField(fault: Fault): ReadonlyMap<string, readonly string[]> {
  const located = fault.issues.map(({ at, message }) => ({ field: (at ?? '').split(/[.[]/)[0] ?? '', message }));
  return new Map(
    [...Map.groupBy(located, ({ field }) => field)].map(([field, found]) => [
      field,
      found.map(({ message }) => message),
    ]),
  );
}
