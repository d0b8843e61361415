/** The benches of the workbench, with their permissions. */
export const BENCHES = [
  { name: 'assertion', title: 'Assertion', permission: 'site.api_keys.read' },
  { name: 'message', title: 'HL7 message', permission: 'site.messages.read' },
  { name: 'resource', title: 'FHIR resource', permission: 'site.api_keys.read' },
] as const;
export type Bench = (typeof BENCHES)[number]['name'];
