/**
 * The parameters that `Prefer: handling=lenient` may leave out of a query (FHIR R4 search, 3.1.1.3). Without such a parameter
 * the answer may have more resources of the requested patients, or another form, but never data of other patients. A
 * parameter that selects patients remains an error.
 */
import type { ResourceType } from '../../shared/resource-type.ts';

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/**
 * Parameters of R4 that name a patient, or something that is one patient's: an order, an encounter, a specimen. And
 * parameters of every type (`_in` is R5's) that can name either.
 */
const OF_ONE_PATIENT = names(
  // prose-allow: sentence
  'patient subject identifier encounter episode context based-on part-of derived-from has-member focus specimen result ' +
    'media evidence-detail reason-reference related relatesto ' +
    '_has _list _in _filter _query _content _text _source _tag _security',
);

/** R4's search parameters of Patient: each of them chooses patients. */
const OF_PATIENTS = names(
  'active address address-city address-country address-postalcode address-state address-use birthdate death-date deceased ' +
    'email family gender general-practitioner given language link name organization phone phonetic telecom',
);

/** Parameters of Bulk Data Access that select patients or resources. */
const OF_EXPORTS = names('patient _typefilter');

/** Parameters that only add resources to the answer; `_include:iterate` is one of them although it has a modifier. */
const ADDING = names('_include _revinclude');

/** @param name the name of an unsupported search parameter */
export function mayLeaveOut(type: ResourceType, name: string): boolean {
  const [base = '', ...rest] = name.toLowerCase().split(/[:.]/);
  if (ADDING.has(base)) return true;
  // Only filters have modifiers and chains.
  return rest.length === 0 && !OF_ONE_PATIENT.has(base) && !(type === 'Patient' && OF_PATIENTS.has(base));
}

/** @param name the name of an unsupported parameter of an export */
export const mayLeaveOutOfExport = (name: string): boolean => !OF_EXPORTS.has(name.toLowerCase());

/** For the message of a parameter that is rejected in spite of `handling=lenient`. */
export const NEVER_LEFT_OUT =
  'handling=lenient cannot leave it out, because the search could then find other patients: remove it, or use a supported parameter';
