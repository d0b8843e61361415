/** The diagnostic service section of an order (OBR-24, HL7 table 0074) as the categories that US Core 6.1 searches for. */
import type { Segment } from '../../../../shared/hl7/message.ts';
import { objectsOf, type JsonObject } from '../../../../shared/json.ts';
import { quietly, type MapContext } from '../context.ts';
import { conceptOf, mappedConcept } from '../datatypes/cwe.ts';
import { first } from '../datatypes/text.ts';
import { isAdded } from '../../precedence/added-coding.ts';
import { DIAGNOSTIC_SERVICE_SECTION } from '../tables/concept-maps.ts';

const SECTIONS = 'http://terminology.hl7.org/CodeSystem/v2-0074';
const OBSERVATION_CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

const LABORATORIES = new Set(
  ['BG', 'BLB', 'CG', 'CH', 'CP', 'GE', 'HM', 'IMM', 'LAB', 'MB', 'MCB', 'MYC', 'OSL', 'SP', 'SR', 'TX', 'VR'], //
);
const RADIOLOGY = new Set(['CT', 'NMR', 'NMS', 'OUS', 'RAD', 'RUS', 'RX', 'VUS', 'XRC']);
const CARDIAC_ULTRASOUND = 'CUS';

const sectionConcept = (obr: Segment, context: MapContext): JsonObject | undefined =>
  mappedConcept(first(obr, 24), context, DIAGNOSTIC_SERVICE_SECTION);

/** The sender's code of table 0074; empty for a code of another coding system. */
function codeOf(section: JsonObject): string {
  const codings = objectsOf(section['coding']);
  const code = codings.find((coding) => coding['system'] === SECTIONS && !isAdded(coding))?.['code'];
  return typeof code === 'string' ? code.toUpperCase() : '';
}

/** @returns the category of the order's Observations; undefined if the section says neither laboratory nor imaging */
export function categoryOfResults(obr: Segment, context: MapContext): JsonObject | undefined {
  // An invalid OBR-24 is reported with the report.
  const section = codeOf(sectionConcept(obr, quietly(context)) ?? {});
  if (LABORATORIES.has(section)) return conceptOf(OBSERVATION_CATEGORY, 'laboratory');
  const isImaging = RADIOLOGY.has(section) || section === CARDIAC_ULTRASOUND;
  return isImaging ? conceptOf(OBSERVATION_CATEGORY, 'imaging') : undefined;
}

/** @returns the section, and the category of US Core's reports of laboratories or radiology if it is one; undefined without OBR-24 */
export function categoriesOfReport(obr: Segment, context: MapContext): JsonObject[] | undefined {
  const concept = sectionConcept(obr, context);
  if (concept === undefined) return undefined;
  const section = codeOf(concept);
  if (LABORATORIES.has(section) && section !== 'LAB') return [concept, conceptOf(SECTIONS, 'LAB')];
  return RADIOLOGY.has(section) ? [concept, conceptOf('http://loinc.org', 'LP29684-5')] : [concept];
}
