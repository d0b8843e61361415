/**
 * Status codes of results and documents: the guide's concept maps, and edge/docs/behaviour.md, HL7 v2 for codes without one.
 */

/** Table 0085, OBX-11 (concept map ObservationResultStatusCodesInterpretation). */
export const OBSERVATION_STATUS: ReadonlyMap<string, string> = new Map([
  ['A', 'amended'],
  ['C', 'corrected'],
  ['D', 'entered-in-error'],
  ['F', 'final'],
  ['P', 'preliminary'],
  ['W', 'entered-in-error'],
  ['X', 'cancelled'],
  // Not in the guide:
  ['I', 'registered'],
  ['O', 'registered'],
  ['R', 'preliminary'],
  ['S', 'preliminary'],
  ['B', 'final'],
  ['V', 'final'],
  ['U', 'final'],
  ['N', 'final'],
]);

/** Table 0123, OBR-25 (concept map ResultStatus[Non-Queries]). Y and Z mean that there is no result: an error. */
export const REPORT_STATUS: ReadonlyMap<string, string> = new Map([
  ['O', 'registered'],
  ['I', 'registered'],
  ['S', 'registered'],
  ['P', 'preliminary'],
  ['C', 'corrected'],
  ['R', 'partial'],
  ['F', 'final'],
  ['X', 'cancelled'],
  // Not in the guide:
  ['A', 'partial'],
  ['M', 'preliminary'],
  ['N', 'registered'],
]);
export const REFUSED_REPORT_STATUS: ReadonlySet<string> = new Set(['Y', 'Z']);

/** Table 0271, TXA-17: authenticated and legally authenticated; the others precede these. */
export const COMPLETION_STATUS: ReadonlyMap<string, string> = new Map([
  ['AU', 'final'],
  ['LA', 'final'],
  ['DI', 'preliminary'],
  ['DO', 'preliminary'],
  ['IN', 'preliminary'],
  ['IP', 'preliminary'],
  ['PA', 'preliminary'],
]);

/** Table 0273, TXA-19. */
export const DOCUMENT_STATUS: ReadonlyMap<string, string> = new Map([
  ['AV', 'current'],
  ['UN', 'current'],
  ['OB', 'superseded'],
  ['CA', 'entered-in-error'],
]);
