/**
 * An operation of `/admin/api` as a value: its path, permission, schemas and handler. Routes and the OpenAPI document are
 * made from the same values, so that they always agree.
 */
import type { Context } from 'hono';
import * as z from 'zod';

import { Fault } from '../../../shared/fault.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../deps.ts';
import type { GatewayEnv, Surface } from '../../http/surface.ts';
import type { AuditActor } from '../../store/audit.ts';
import type { Access } from '../staff/access.ts';
import { parse, readJson } from './parse.ts';
import type { Actor } from '../staff/actor.ts';
import type { Permission } from '../../permissions.ts';

export type Method = 'get' | 'post' | 'put' | 'patch';

/** A parsed request. */
interface Call<Query, Body> {
  readonly actor: Actor;
  readonly auditActor: AuditActor;
  /** With the rights of the caller. */
  readonly database: Database;
  readonly query: Query;
  readonly body: Body;
  /** Reads a parameter of the path. */
  readonly param: (name: string) => string;
  readonly header: (name: string) => string | undefined;
  readonly requestId: string;
}

interface Described<Query extends z.ZodType, Body extends z.ZodType, Answer> {
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly maxBodyBytes?: number;
  readonly answer: z.ZodType;
  /** Default: 200. */
  readonly status?: 200 | 201;
  readonly needsIfMatch?: boolean;
  /** True if the body names the state that it rests on, and another state is 412. */
  readonly needsFingerprint?: true;
  readonly handle: (call: Call<z.infer<Query>, z.infer<Body>>) => Promise<Answer>;
  readonly headers?: (answer: Answer) => Readonly<Record<string, string>>;
}

/** An operation whose handler's types are closed over. */
export interface Operation extends Omit<Described<z.ZodType, z.ZodType, unknown>, 'handle' | 'headers'> {
  readonly method: Method;
  readonly path: string;
  readonly permission: Permission | readonly Permission[];
  readonly run: (c: Context<GatewayEnv>, access: Pick<Access, 'api'>, requestId: string) => Promise<Response>;
}

const DEFAULT_MAX_BODY_BYTES = 256 * 1024;
const noQuery = z.strictObject({});

/**
 * @param path below `/admin/api`, parameters in braces: `/api-keys/{clientId}`
 * @param permission any of these is enough to start; the handler may require another
 */
export function operation<Query extends z.ZodType, Body extends z.ZodType, Answer>(
  method: Method,
  path: string,
  permission: Permission | readonly Permission[],
  described: Described<Query, Body, Answer>,
): Operation {
  const { handle, headers, ...rest } = described;
  return {
    method,
    path,
    permission,
    ...rest,
    async run(c, access, requestId) {
      const { actor, auditActor, database } = await access.api(c, permission);
      const query = parse(described.query ?? noQuery, c.req.query(), 'malformed', 'the query');
      const given =
        described.body === undefined ? undefined : await readJson(c, described.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES);
      const body = described.body === undefined ? undefined : parse(described.body, given);
      const answer = await handle({
        actor,
        auditActor,
        database,
        // `parse` returned the output of these schemas, which are the types that the handler declares.
        query: query as z.infer<Query>,
        body: body as z.infer<Body>,
        param: (name) => c.req.param(name) ?? '',
        header: (name) => c.req.header(name),
        requestId,
      });
      return new Response(JSON.stringify(answer), {
        status: described.status ?? 200,
        headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers?.(answer) },
      });
    },
  };
}

export const API_PATH = '/admin/api';

/** The `Location` of a created thing, by its path below `/admin/api`. */
export const locationOf = (
  { config }: { readonly config: Pick<Config, 'ADMIN_PUBLIC_BASE_URL'> },
  path: string,
): { readonly Location: string } => ({ Location: `${config.ADMIN_PUBLIC_BASE_URL ?? ''}${API_PATH}${path}` });

const toRoute = (path: string): string => `${API_PATH}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;

/** Adds the routes. Another method of a path is 405 with `Allow` (RFC 9110 §15.5.6). */
export function addOperations(app: Surface, access: Pick<Access, 'api'>, operations: readonly Operation[]): void {
  for (const each of operations) {
    app.on(each.method.toUpperCase(), toRoute(each.path), (c) => each.run(c, access, c.get('requestId')));
  }
  for (const path of new Set(operations.map((each) => each.path))) {
    const methods = operations.filter((each) => each.path === path).map(({ method }) => method.toUpperCase());
    app.all(toRoute(path), () => {
      throw new Fault('method-not-allowed', `this path accepts only ${methods.join(', ')}`, {
        headers: { Allow: methods.join(', ') },
      });
    });
  }
}

/** The query parameters of every list. */
export const paging = {
  limit: z.coerce
    .number({ error: 'must be a number from 1 to 200' })
    .int()
    .min(1, 'must be a number from 1 to 200')
    .max(200, 'must be a number from 1 to 200')
    .default(50)
    .meta({ description: 'The most items of a page.' }),
  cursor: z.string().optional().meta({ description: 'The `next` of the previous page.' }),
};

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable().meta({ description: 'The cursor of the next page.' }) });
