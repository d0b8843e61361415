/** Parses requests to `/admin/api`: JSON up to a size limit; each finding of zod becomes an issue with its place. */
import type { Context } from 'hono';
import { safeParse, type z } from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { type Json, parseJson } from '../../../shared/json.ts';
import { findingText } from '../../../shared/finding-text.ts';
import { holdsTextOnly } from '../../../shared/text.ts';
import { decodeUtf8, readBody } from '../../http/body.ts';
import { type Content, needOf } from '../../http/memory.ts';
import type { GatewayEnv } from '../../http/surface.ts';

const JSON_TYPES = /^application\/(?:json|merge-patch\+json)\s*(?:;|$)/i;
/** Members of answers that a request must not send. */
const SET_BY_SERVER = new Set([
  'site',
  'clientId',
  'version',
  'createdAt',
  'updatedAt',
  'lastRefusalAt',
  'lastUsedAt',
  'tokensToday',
]);

/** Reads a body when there is memory for it. @throws Fault 413, 415, 503 */
export function readShared(c: Context<GatewayEnv>, maxBytes: number, content: Content): Promise<Uint8Array> {
  const request = c.req.raw;
  const share = c.get('share');
  if (share === undefined) return readBody(request, maxBytes);
  // Without a session all clients are one source.
  const source = c.get('use')?.site ?? '';
  return share.read(source, async (expect) => {
    const bytes = await readBody(request, maxBytes, expect);
    await share.reserve(source, needOf(content, bytes));
    return bytes;
  });
}

/** @throws Fault 400, 413, 415, 503 */
export async function readJson(c: Context<GatewayEnv>, maxBytes: number): Promise<Json> {
  if (!JSON_TYPES.test(c.req.header('content-type') ?? '')) {
    throw new Fault('unsupported-media-type', 'send JSON, with Content-Type: application/json');
  }
  return parseJson(decodeUtf8(await readShared(c, maxBytes, 'json')));
}

const place = (path: readonly PropertyKey[]): string =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : `${depth === 0 ? '' : '.'}${String(step)}`))
    .join('');

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== 'unrecognized_keys') return [{ code: 'invalid', message: issue.message, at: place(issue.path) }];
  return issue.keys.map((key) => ({
    code: 'unknown',
    message: SET_BY_SERVER.has(key) ? 'is set by the gateway: leave it out' : 'is unknown: leave it out',
    at: place([...issue.path, key]),
  }));
}

/**
 * @param what names what was parsed, for the message: `the query`
 * @throws Fault `kind` with one issue for each finding, at its field
 */
export function parse<T extends z.ZodType>(
  schema: T,
  given: unknown,
  kind: 'malformed' | 'invalid' = 'invalid',
  what = 'the content',
): z.infer<T> {
  // PostgreSQL cannot store these characters in any member.
  if (!holdsTextOnly(given))
    throw new Fault(kind, `${what} has a character that cannot be stored: remove NUL and unpaired surrogates`);
  const parsed = schema.safeParse(given, { error: findingText });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap(toIssues);
  const fields = [...new Set(issues.map(({ at }) => at).filter((at) => at !== undefined && at !== ''))];
  const named = fields.length === 0 ? '' : `: ${fields.join(', ')}`;
  throw new Fault(kind, `${what} is not valid${named}`, { issues });
}

/** The members of an object that are valid, and the issues of the others. */
export interface PartlyParsed {
  readonly data: Readonly<Record<string, unknown>>;
  readonly issues: readonly Issue[];
}

/**
 * Parses each member by itself, so that rules over several members can be checked although one is wrong.
 *
 * @throws Fault `invalid` if `given` is not an object
 */
export function parseMembers<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  given: unknown,
  what: string,
): PartlyParsed {
  try {
    return { data: parse(schema, given, 'invalid', what), issues: [] };
  } catch (error) {
    if (!(error instanceof Fault) || error.issues.every(({ at }) => at === '')) throw error;
    const members: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
    const values = new Map<string, unknown>(Object.entries(Object(given)));
    const read = Object.entries(members).flatMap(([name, member]) => {
      const { success, data } = safeParse(member, values.get(name));
      return success && data !== undefined ? [[name, data] as const] : [];
    });
    return { data: Object.fromEntries(read), issues: error.issues };
  }
}
