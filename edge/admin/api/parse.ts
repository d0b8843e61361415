/** Parsing at the door of `/admin/api`: JSON within a limit, zod's findings as located issues. */
import type { z } from 'zod';

import { Fault, type Issue } from '../../../shared/fault.ts';
import { type Json, parseJson } from '../../../shared/json.ts';
import { holdsTextOnly } from '../../../shared/text.ts';
import { decodeUtf8, readBody } from '../../http/body.ts';

const JSON_TYPES = /^application\/(?:json|merge-patch\+json)\s*(?:;|$)/i;
/** Members that an answer has and a request may not. */
const SET_BY_SERVER = new Set(['site', 'clientId', 'version', 'createdAt', 'updatedAt', 'lastRefusalAt']);

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
