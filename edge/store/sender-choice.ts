/** What a key can choose about its HL7 messages, as its columns hold it (edge/docs/behaviour.md, Administration). */

/** What becomes of a message whose person contradicts the chart that its number leads to, the mildest first. */
export const IDENTITY_CHECKS = ['warn', 'refuse-results', 'refuse'] as const;
export type IdentityCheck = (typeof IDENTITY_CHECKS)[number];

/** What becomes of a message of a type that the gateway does not map. */
export const UNSUPPORTED_TYPES = ['refuse', 'keep'] as const;
export type UnsupportedTypes = (typeof UNSUPPORTED_TYPES)[number];
