/** Reads the queries and forms of the console. */
import type { Context } from 'hono';
import type { z } from 'zod';

import type { Fault } from '../../../shared/fault.ts';
import { formDecoder } from '../../http/form-body.ts';
import type { GatewayEnv } from '../../http/surface.ts';
import { parse, readShared } from '../api/parse.ts';

/**
 * Reads the query of a page with the schema of the JSON API; other parameters are left out.
 *
 * @throws Fault `malformed`
 */
export const readQuery = <Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, query: Record<string, string>) =>
  parse(schema.strip(), query, 'malformed', 'the query');

/** Reads the posted form; later calls return the same one, so that an error page can show it. @throws Fault 400, 413 or 415 */
export async function readForm(c: Context<GatewayEnv>, maxBytes = 256 * 1024): Promise<URLSearchParams> {
  const known = c.get('form');
  if (known !== undefined) return known;
  const decode = formDecoder(c.req.header('content-type') ?? null);
  const bytes = await readShared(c, maxBytes, 'form');
  const form = new URLSearchParams(decode(bytes));
  c.set('form', form);
  return form;
}

/** The messages of a Fault's issues by form field; `allowedIps[2]` belongs to `allowedIps`. */
export function errorsByField(fault: Fault): ReadonlyMap<string, readonly string[]> {
  const located = fault.issues.map(({ at, message }) => ({ field: (at ?? '').split(/[.[]/)[0] ?? '', message }));
  return new Map(
    [...Map.groupBy(located, ({ field }) => field)].map(([field, found]) => [
      field,
      found.map(({ message }) => message),
    ]),
  );
}
