/**
 * Reads the text of a Reference (FHIR R4, References §2.3.0): its form, and the type of its target. The database checks whether
 * the target exists.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import { RESOURCES } from './definitions.ts';

const ID = '[A-Za-z0-9.-]{1,64}';
// Type/id, with a version or a fragment of it; on any server.
// oxlint-disable-next-line gateway/linear-expression -- a type and an id of at most 64 characters behind each slash
const LITERAL = new RegExp(`(?:^|^https?://[^?#\\s]*/)([A-Z][A-Za-z]+)/${ID}(?:/_history/${ID})?(?:#.*)?$`);
// A conditional reference, as a transaction may hold it (FHIR R4, RESTful API, conditional references).
const CONDITIONAL = /^([A-Z][A-Za-z]+)\?[^#]/;
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/;
const DEFINITIONS = 'http://hl7.org/fhir/StructureDefinition/';

/** The type of a reference's target; `undefined` when it cannot be known, a message for an invalid reference. */
function targetOf(reference: string, contained: ReadonlyMap<string, string>): { type?: string; message?: string } {
  if (reference.startsWith('#')) {
    const type = contained.get(reference.slice(1));
    return type === undefined ? {} : { type };
  }
  const type = (LITERAL.exec(reference) ?? CONDITIONAL.exec(reference))?.[1];
  if (type !== undefined && RESOURCES.has(type)) return { type };
  if (ABSOLUTE.test(reference)) return {};
  return { message: 'must be Type/id of an R4 resource type, #id or an absolute URL' };
}

/** A fault of a Reference, and which of its elements has it. */
export interface ReferenceFault {
  readonly element: 'reference' | 'type';
  readonly message: string;
}

/**
 * Checks `reference` and `type` of a Reference against the types the element allows.
 *
 * @param targets names of resource types; undefined allows any
 */
export function checkReference(
  { reference, type }: JsonObject,
  targets: ReadonlySet<string> | undefined,
  contained: ReadonlyMap<string, string>,
): ReferenceFault | undefined {
  const stated =
    typeof type === 'string' ? type.slice(type.startsWith(DEFINITIONS) ? DEFINITIONS.length : 0) : undefined;
  const target = typeof reference === 'string' ? targetOf(reference, contained) : {};
  if (target.message !== undefined) return { element: 'reference', message: target.message };
  const allowed = (name: string | undefined): boolean => name === undefined || (targets?.has(name) ?? true);
  const expected = `must refer to ${[...(targets ?? [])].join(', ')}`;
  if (!allowed(target.type)) return { element: 'reference', message: expected };
  if (stated === undefined || !RESOURCES.has(stated)) return undefined;
  if (!allowed(stated)) return { element: 'type', message: expected };
  if (target.type === undefined || target.type === stated) return undefined;
  return { element: 'type', message: 'must be the type that reference points at' };
}

/** The types of the contained resources, by id. */
export function containedTypes(contained: Json | undefined): ReadonlyMap<string, string> {
  const out = new Map<string, string>();
  if (!Array.isArray(contained)) return out;
  for (const resource of contained) {
    if (!isJsonObject(resource)) continue;
    const { id, resourceType: type } = resource;
    if (typeof id === 'string' && typeof type === 'string') out.set(id, type);
  }
  return out;
}
