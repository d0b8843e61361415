/** Parsing at the door of `/admin/api`: JSON within a limit, zod's findings as located issues. */
import { safeParse, type z } from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { type Json, parseJson } from '../../../shared/json.ts';
import { holdsTextOnly } from '../../../shared/text.ts';
import { decodeUtf8, readBody } from '../../http/body.ts';

const JSON_TYPES = /^application\/(?:json|merge-patch\+json)\s*(?:;|$)/i;
/** Members that an answer has and a request may not. */
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

/** @throws Fault 400, 413 or 415 */
export async function readJson(request: Request, maxBytes: number): Promise<Json> {
  if (!JSON_TYPES.test(request.headers.get('content-type') ?? '')) {
    throw new Fault('unsupported-media-type', 'send JSON, with Content-Type: application/json');
  }
  return parseJson(decodeUtf8(await readBody(request, maxBytes)));
}

const place = (path: readonly PropertyKey[]): string =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : `${depth === 0 ? '' : '.'}${String(step)}`))
    .join('');

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== 'unrecognized_keys') return [{ code: 'invalid', message: issue.message, at: place(issue.path) }];
  return issue.keys.map((key) => ({
    code: 'unknown',
    message: SET_BY_SERVER.has(key) ? 'is set by the server' : 'is not known here',
    at: place([...issue.path, key]),
  }));
}

/**
 * @param what completes "… is not acceptable" in the message
 * @throws Fault `kind` with one issue for each finding, named by its field
 */
export function parse<T extends z.ZodType>(
  schema: T,
  given: unknown,
  kind: 'malformed' | 'invalid' = 'invalid',
  what = 'the content',
): z.infer<T> {
  // Before any schema: whatever member it stands in, the database could not take it.
  if (!holdsTextOnly(given)) throw new Fault(kind, `${what} is not acceptable: NUL and half a character are no text`);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap(toIssues);
  const fields = [...new Set(issues.map(({ at }) => at).filter((at) => at !== undefined && at !== ''))];
  const named = fields.length === 0 ? '' : `: ${fields.join(', ')}`;
  throw new Fault(kind, `${what} is not acceptable${named}`, { issues });
}

/** What of an object could be read, and what is wrong with the rest. */
export interface ReadAsFarAs {
  readonly data: Readonly<Record<string, unknown>>;
  readonly issues: readonly Issue[];
}

/**
 * As `parse`, but a member that is wrong does not hide the others, so that a rule can be tried on them too.
 *
 * @throws Fault `invalid` for what is no such object at all
 */
export function parseAsFarAs<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  given: unknown,
  what: string,
): ReadAsFarAs {
  try {
    return { data: parse(schema, given, 'invalid', what), issues: [] };
  } catch (error) {
    if (!(error instanceof Fault) || error.issues.length === 0) throw error;
    const members: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
    const values = new Map<string, unknown>(Object.entries(Object(given)));
    const read = Object.entries(members).flatMap(([name, member]) => {
      const { success, data } = safeParse(member, values.get(name));
      return success && data !== undefined ? [[name, data] as const] : [];
    });
    return { data: Object.fromEntries(read), issues: error.issues };
  }
}
