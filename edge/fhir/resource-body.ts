/** The content of a write: JSON, and valid FHIR of the right type. */
import { Fault } from '../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../shared/json.ts';
import { decodeUtf8 } from '../http/body.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { requireAffordableLists } from './cost.ts';
import { requireJsonBody } from './media-type.ts';
import { subsettedAt } from './subset.ts';
import { validate } from './validate/validate.ts';

/** A request, and its body, which is read when it is first asked for. */
export interface Sent {
  readonly request: Request;
  /** @throws Fault as `readBody` */
  readonly body: () => Promise<Uint8Array>;
}

const PART =
  'meta.tag has SUBSETTED: this is a part of a resource, as _elements and _summary return it. Writing it would erase the ' +
  'rest. Read the complete resource, change it, and write it.';

/** @throws Fault 415, 413, or 400 for what is not JSON */
export async function readJson({ request, body }: Sent): Promise<Json> {
  requireJsonBody(request.headers.get('content-type'));
  return parseBody(decodeUtf8(await body()), 'a resource');
}

/**
 * The body of an operation that may have none (FHIR R4 operations, 3.2.0.2): null.
 *
 * @throws Fault as `readJson`
 */
export async function readJsonIfAny({ request, body }: Sent): Promise<Json> {
  const bytes = await body();
  if (bytes.byteLength === 0) return null;
  requireJsonBody(request.headers.get('content-type'));
  return parseBody(decodeUtf8(bytes), 'Parameters');
}

/**
 * @param what the expected content, for the message
 * @throws Fault 400 for what is not JSON
 */
export function parseBody(text: string, what: string): Json {
  if (text.trim() === '') throw new Fault('malformed', `the body is empty: send ${what}`, { code: 'structure' });
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw error.with({ code: 'structure', cause: error });
  }
}

/** @throws Fault `malformed` (400) with every fault located, `invalid` (422) for a list that is too long */
export function requireResource(type: ResourceType, content: Json): JsonObject {
  requireAffordableLists(type, content);
  const issues = validate(content, type);
  if (issues.length > 0 || !isJsonObject(content)) {
    throw new Fault('malformed', 'the resource is not valid FHIR R4', { issues });
  }
  return content;
}

/** @throws Fault as `requireResource`, and `invalid` (422) for a SUBSETTED resource */
export function requireValid(type: ResourceType, content: Json): JsonObject {
  const valid = requireResource(type, content);
  const at = subsettedAt(type, valid);
  if (at === undefined) return valid;
  throw new Fault('invalid', PART, { issues: [{ code: 'business-rule', message: PART, at }] });
}
