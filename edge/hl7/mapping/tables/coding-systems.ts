/** HL7 table 0396 (names of coding systems, CWE.3) to the URIs that FHIR uses (terminology.hl7.org, "Using Codes"). */

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
  ['BCP47', 'urn:ietf:bcp:47'],
  ['ISO3166', 'urn:iso:std:iso:3166'],
  ['CDCREC', 'urn:oid:2.16.840.1.113883.6.238'],
  ['NPI', 'http://hl7.org/fhir/sid/us-npi'],
  ['NUCC', 'http://nucc.org/provider-taxonomy'],
]);

const OID = /^[0-2](?:\.(?:0|[1-9]\d*))+$/;
const HL7_TABLE = /^HL7-?(\d{4})$/i;

/**
 * The URI of a coding system; undefined for a local one that the site has not named.
 *
 * @param name CWE.3, CWE.6 or CWE.12
 */
export function codingSystem(name: string, named: ReadonlyMap<string, string>): string | undefined {
  const known = named.get(name) ?? SYSTEMS.get(name.toUpperCase().replaceAll(/[ _-]/g, ''));
  if (known !== undefined) return known;
  const table = HL7_TABLE.exec(name)?.[1];
  if (table !== undefined) return `http://terminology.hl7.org/CodeSystem/v2-${table}`;
  if (OID.test(name)) return `urn:oid:${name}`;
  return /^(?:https?|urn):\S+$/.test(name) ? name : undefined;
}
