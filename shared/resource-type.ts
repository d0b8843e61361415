/** The resource types that every gateway has (edge/docs/behaviour.md, FHIR). */
export const RESOURCE_TYPES = [
  'Patient',
  'Condition',
  'AllergyIntolerance',
  'Observation',
  'Procedure',
  'DiagnosticReport',
  'DocumentReference',
] as const;

/** The types that are off by default, each with the configuration variable that switches it on. */
const SWITCHED_TYPES = [
  ['Group', 'FHIR_GROUPS'],
  ['Provenance', 'FHIR_PROVENANCE'],
] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number] | (typeof SWITCHED_TYPES)[number][0];
export type Switches = Readonly<Record<(typeof SWITCHED_TYPES)[number][1], boolean>>;

export const ALL_RESOURCE_TYPES: readonly ResourceType[] = [...RESOURCE_TYPES, ...SWITCHED_TYPES.map(([type]) => type)];

/** The gateway makes a Provenance from what it keeps, so it can only be read. All other types are stored. */
export const isStored = (type: ResourceType): boolean => type !== 'Provenance';

/** True also for a type that is off. */
export function isResourceType(text: unknown): text is ResourceType {
  return ALL_RESOURCE_TYPES.some((type) => type === text);
}

/** The types that a gateway with this configuration has. */
export const typesOn = (switches: Switches): readonly ResourceType[] => [
  ...RESOURCE_TYPES,
  ...SWITCHED_TYPES.filter(([, name]) => switches[name]).map(([type]) => type),
];

/**
 * Why a gateway does not have a type, for the message of an error.
 *
 * @param types the types that it has
 */
export function unsupportedType(name: string, types: readonly ResourceType[]): string {
  const [, variable] = SWITCHED_TYPES.find(([type]) => type === name) ?? [];
  if (variable !== undefined && !types.some((type) => type === name)) {
    return `${name} is off at this gateway: its operator can set ${variable}=on`;
  }
  return `supported types: ${types.join(', ')}`;
}
