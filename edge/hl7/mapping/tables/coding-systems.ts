/**
 * The URIs of coding systems (CWE.3): those of HL7 table 0396 (terminology.hl7.org, "Using Codes") and of the site's settings.
 * Other systems get a URI of the gateway, so that a local code still has a system.
 */
import { nameKey } from '../../../store/patient-identity.ts';
import type { MapContext } from '../context.ts';

const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['LN', 'http://loinc.org'],
  ['LOINC', 'http://loinc.org'],
  ['SCT', 'http://snomed.info/sct'],
  ['SCT2', 'http://snomed.info/sct'],
  ['SNOMED', 'http://snomed.info/sct'],
  ['SNM3', 'http://snomed.info/sct'],
  ['UCUM', 'http://unitsofmeasure.org'],
  ['I10', 'http://hl7.org/fhir/sid/icd-10'],
  ['ICD10', 'http://hl7.org/fhir/sid/icd-10'],
  ['I10C', 'http://hl7.org/fhir/sid/icd-10-cm'],
  ['ICD10CM', 'http://hl7.org/fhir/sid/icd-10-cm'],
  ['I10P', 'http://www.cms.gov/Medicare/Coding/ICD10'],
  ['I9', 'http://hl7.org/fhir/sid/icd-9-cm'],
  ['I9C', 'http://hl7.org/fhir/sid/icd-9-cm'],
  ['I9CDX', 'http://hl7.org/fhir/sid/icd-9-cm'],
  ['I9CP', 'http://hl7.org/fhir/sid/icd-9-cm'],
  ['ICD9', 'http://hl7.org/fhir/sid/icd-9-cm'],
  ['C4', 'http://www.ama-assn.org/go/cpt'],
  ['CPT', 'http://www.ama-assn.org/go/cpt'],
  ['CPT4', 'http://www.ama-assn.org/go/cpt'],
  ['C5', 'http://www.ama-assn.org/go/cpt'],
  ['HPC', 'http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets'],
  ['HCPCS', 'http://www.cms.gov/Medicare/Coding/HCPCSReleaseCodeSets'],
  ['CVX', 'http://hl7.org/fhir/sid/cvx'],
  ['MVX', 'http://hl7.org/fhir/sid/mvx'],
  ['NDC', 'http://hl7.org/fhir/sid/ndc'],
  ['RXNORM', 'http://www.nlm.nih.gov/research/umls/rxnorm'],
  ['UNII', 'http://fdasis.nlm.nih.gov'],
  ['NDFRT', 'http://hl7.org/fhir/ndfrt'],
  ['NCIT', 'http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl'],
  ['ATC', 'http://www.whocc.no/atc'],
  ['WC', 'http://www.whocc.no/atc'],
  ['ISO639', 'urn:ietf:bcp:47'],
  ['ISO6391', 'urn:ietf:bcp:47'],
  ['BCP47', 'urn:ietf:bcp:47'],
  ['ISO3166', 'urn:iso:std:iso:3166'],
  ['ISO31661', 'urn:iso:std:iso:3166'],
  ['ISO31662', 'urn:iso:std:iso:3166:-2'],
  ['ISO4217', 'urn:iso:std:iso:4217'],
  ['CDCREC', 'urn:oid:2.16.840.1.113883.6.238'],
  ['CLIA', 'urn:oid:2.16.840.1.113883.4.7'],
  ['NPI', 'http://hl7.org/fhir/sid/us-npi'],
  ['NUCC', 'http://nucc.org/provider-taxonomy'],
]);

const OID = /^[0-2](?:\.(?:0|[1-9]\d*))+$/;
const HL7_TABLE = /^HL7[ _-]?(\d{4})$/i;
/** The standard's placeholder for a table without a number yet, and what senders copied from it. */
const SOME_HL7_TABLE = /^HL7[ _-]?n{4}$/i;

/** The system of `HL70002` in FHIR. */
const systemOfTable = (digits: string): string => `http://terminology.hl7.org/CodeSystem/v2-${digits}`;

/**
 * The system of a field's HL7 table.
 *
 * @param table `HL70078`
 */
export const tableSystem = (table: string): string => systemOfTable(table.slice('HL7'.length));

/** Checks whether CWE.3 names the field's own table, or is empty. */
export const isOwnTable = (name: string | undefined, table: string): boolean =>
  name === undefined || SOME_HL7_TABLE.test(name) || HL7_TABLE.exec(name)?.[1] === table.slice('HL7'.length);

/** CWE.3 has twelve characters, twenty in later versions: a much longer text is not a name. */
const MAX_NAME_LENGTH = 100;

/** The URI of the standard or of the site's settings. */
function knownSystem(name: string, named: ReadonlyMap<string, string>): string | undefined {
  const known = named.get(nameKey(name)) ?? SYSTEMS.get(name.toUpperCase().replaceAll(/[ _-]/g, ''));
  if (known !== undefined) return known;
  const table = HL7_TABLE.exec(name)?.[1];
  if (table !== undefined) return systemOfTable(table);
  if (OID.test(name)) return `urn:oid:${name}`;
  return /^(?:https?|urn):\S+$/.test(name) ? name : undefined;
}

/**
 * The URI of a coding system. An unmapped one gets a URI of this site (edge/docs/behaviour.md, HL7 v2), and is reported, so
 * that an administrator can name it.
 *
 * @param names CWE.3 or CWE.6, and other names of the same system: CWE.14, an OID. The first known one counts
 * @returns undefined without a name
 */
export function codingSystem(names: readonly (string | undefined)[], context: MapContext): string | undefined {
  const given = names.filter((name) => name !== undefined);
  for (const name of given) {
    const known = knownSystem(name, context.codeSystems);
    if (known !== undefined) return known;
  }
  const [name] = given;
  if (name === undefined || name.length > MAX_NAME_LENGTH) return undefined;
  const key = nameKey(name);
  context.unmapped({ kind: 'code-system', name: key });
  if (context.localSystems === undefined) return undefined;
  return context.localSystems + encodeURIComponent(key.toWellFormed());
}
