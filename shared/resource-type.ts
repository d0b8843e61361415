/** The seven resource types of the gateway (edge/docs/behaviour.md, FHIR). */
export const RESOURCE_TYPES = [
  'Patient',
  'Condition',
  'AllergyIntolerance',
  'Observation',
  'Procedure',
  'DiagnosticReport',
  'DocumentReference',
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export function isResourceType(text: unknown): text is ResourceType {
  return RESOURCE_TYPES.some((type) => type === text);
}
