/** The content of a write: JSON, and valid FHIR of the right type. */
import { Fault, type Issue } from '../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../shared/json.ts';
import { decodeUtf8 } from '../http/body.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import type { ProfileSet } from '../config.ts';
import { requireAffordableLists } from './cost.ts';
import type { RequestContext } from './interaction.ts';
import { requireJsonBody } from './media-type.ts';
import { subsettedAt } from './subset.ts';
import { MAX_ISSUES } from './validate/findings.ts';
import { claimedProfiles, profileFaults } from './validate/profiles/profile.ts';
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
  return requireR4(type, content, () => []);
}

/** @param others further faults, for a resource that has some of R4 */
function requireR4(type: ResourceType, content: Json, others: (content: JsonObject) => readonly Issue[]): JsonObject {
  requireAffordableLists(type, content);
  const issues = validate(content, type);
  if (issues.length === 0 && isJsonObject(content)) return content;
  const further = isJsonObject(content) ? others(content) : [];
  throw new Fault('malformed', 'the resource is not valid FHIR R4', {
    issues: [...issues, ...further].slice(0, MAX_ISSUES),
  });
}

/** The faults in the profiles of US Core that the resource claims in `meta.profile`. */
const claimFaults = (profiles: ProfileSet, content: JsonObject): readonly Issue[] =>
  profiles === 'us-core' ? profileFaults(claimedProfiles(content), content) : [];

/** @throws Fault as `requireResource`, and `invalid` (422) for a SUBSETTED resource, and for faults in its profiles */
export function requireValid(
  { profiles }: Pick<RequestContext, 'profiles'>,
  type: ResourceType,
  content: Json,
): JsonObject {
  const valid = requireR4(type, content, (resource) => claimFaults(profiles, resource));
  const at = subsettedAt(type, valid);
  if (at !== undefined) {
    throw new Fault('invalid', PART, { issues: [{ code: 'business-rule', message: PART, at }] });
  }
  const issues = claimFaults(profiles, valid);
  if (issues.length === 0) return valid;
  throw new Fault(
    'invalid',
    'the resource does not conform to US Core 6.1.0, which meta.profile or an extension names',
    {
      issues,
    },
  );
}
