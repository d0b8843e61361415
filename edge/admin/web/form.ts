/** Reads the queries and forms of the console. */
import type { Context } from 'hono';
import type { z } from 'zod';

import { Fault } from '../../../shared/fault.ts';
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

/** The name of a form's field with the id of its site (ui.tsx). */
export const OF_SITE = 'ofSite';

/** The posted form as sent; later calls return the same one, so that an error page can show it. @throws Fault 400, 413 or 415 */
export async function sentForm(c: Context<GatewayEnv>, maxBytes: number): Promise<URLSearchParams> {
  const known = c.get('form');
  if (known !== undefined) return known;
  const decode = formDecoder(c.req.header('content-type') ?? null);
  const form = new URLSearchParams(decode(await readShared(c, maxBytes, 'form')));
  c.set('form', form);
  return form;
}

/** Reads the posted form. @throws Fault as `sentForm`; 409 if the session is at another site than the form's page */
export async function readForm(c: Context<GatewayEnv>, maxBytes = 256 * 1024): Promise<URLSearchParams> {
  const sent = await sentForm(c, maxBytes);
  const form = new URLSearchParams(sent);
  form.delete(OF_SITE);
  const [site, of] = [c.get('use')?.site, sent.get(OF_SITE)];
  if (site === undefined || of === null || of === site) return form;
  throw new Fault(
    'conflict',
    'nothing was saved: your session is at another site than this form. Choose the site of the form in another tab, then reload this page',
  );
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
