/**
 * FHIR R4 validation of the gateway's seven resource types against the base specification (FHIR R4, Validating Resources):
 * structure, cardinality, values, required bindings, invariants. No profiles, no terminology server, no lookups.
 */
import type { Issue } from '../../../shared/fault.ts';
import { isJsonObject, type Json } from '../../../shared/json.ts';
import { isResourceType } from '../../../shared/resource-type.ts';
import { RESOURCES, resourceType } from './definitions.ts';
import { createFindings } from './findings.ts';
import { containedTypes } from './references.ts';
import { walkObject } from './walk.ts';

/**
 * Validates a resource.
 *
 * @param resource as `parseJson` gives it; never altered
 * @param expectedType the type the resource has to be, such as that of the request's path
 * @returns every fault, at most 100, each with an R4 IssueType code and a FHIRPath expression; empty when valid.
 *   Messages hold no value of the resource. Never throws.
 */
export function validate(resource: Json, expectedType?: string): Issue[] {
  const at = expectedType ?? 'Resource';
  if (!isJsonObject(resource)) return [{ code: 'structure', message: 'a resource must be a JSON object', at }];
  const name = resource['resourceType'];
  if (name === undefined) return [{ code: 'required', message: 'resourceType is required', at }];
  if (typeof name !== 'string' || !RESOURCES.has(name)) {
    return [{ code: 'structure', message: 'resourceType must be a resource type of R4', at }];
  }
  if (expectedType !== undefined && name !== expectedType) {
    return [{ code: 'invalid', message: `resourceType must be ${expectedType}, not ${name}`, at }];
  }
  if (!isResourceType(name))
    return [{ code: 'not-supported', message: `${name} is not a type of this server`, at: name }];
  const findings = createFindings(name);
  const contained = containedTypes(resource['contained']);
  const walk = { findings, contained, localReferences: new Set<string>(), containedIds: new Set<string>() };
  walkObject({ ...walk, withinContained: false }, resource, resourceType(name));
  return [...findings.issues];
}
