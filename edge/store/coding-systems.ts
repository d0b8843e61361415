/**
 * Names of coding systems (CWE.3) and their URIs: those of HL7 table 0396 (terminology.hl7.org, "Using Codes") and of a site's
 * settings.
 */
import { nameKey } from './patient-identity.ts';

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

const IS_URI = /^(?:https?|urn):\S+$/;
const OID = /^[0-2](?:\.(?:0|[1-9]\d*))+$/;
export const HL7_TABLE = /^HL7[ _-]?(\d{4})$/i;
/** The standard's placeholder for a table without a number yet, and what senders copied from it. */
export const SOME_HL7_TABLE = /^HL7[ _-]?n{4}$/i;

/** The system of `HL70002` in FHIR. */
export const systemOfTable = (digits: string): string => `http://terminology.hl7.org/CodeSystem/v2-${digits}`;

/** The name of SYSTEMS that stands for all names of its URI. */
const FIRST_NAMES: ReadonlyMap<string, string> = new Map([...SYSTEMS].reverse().map(([name, uri]) => [uri, name]));

const standardOf = (name: string): string | undefined => SYSTEMS.get(name.toUpperCase().replaceAll(/[ _-]/g, ''));

/** The URI of the standard or of the site's settings. */
export function knownSystem(name: string, named: ReadonlyMap<string, string>): string | undefined {
  const known = named.get(nameKey(name)) ?? standardOf(name);
  if (known !== undefined) return known;
  const table = HL7_TABLE.exec(name)?.[1];
  if (table !== undefined) return systemOfTable(table);
  if (OID.test(name)) return `urn:oid:${name}`;
  return IS_URI.test(name) ? name : undefined;
}

/** A code of a sender's own, with `L` or without a coding system. */
const LOCAL = 'L';

/**
 * The coding system of a code in a message, as code tables compare it. All names of a standard system are one, and so are `L` and
 * no name. An HL7 table is `HL70078`.
 */
export function sourceSystem(name: string | undefined): string {
  const text = name?.trim() ?? LOCAL;
  const standard = FIRST_NAMES.get(standardOf(text) ?? text);
  if (standard !== undefined) return standard;
  const table = HL7_TABLE.exec(text)?.[1];
  if (table !== undefined) return `HL7${table}`;
  return IS_URI.test(text) ? text.replace(/^urn:oid:/, '') : nameKey(text);
}

/** The prefix of the URIs of coding systems without a URI. @param fhirBase the address of the FHIR API */
export const localSystems = (fhirBase: string, site: string): string => `${fhirBase}/sites/${site}/code-systems/`;
