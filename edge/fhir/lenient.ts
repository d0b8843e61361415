/**
 * What `Prefer: handling=lenient` may leave out of a query (FHIR R4 search, 3.1.1.3). It may widen what is found of the
 * patients that were asked for, and how the answer looks; it never widens whose data is found. A parameter that decides whose
 * stays an error.
 */
import type { ResourceType } from '../../shared/resource-type.ts';

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/**
 * Parameters of R4 that name a patient, or something that is one patient's: an order, an encounter, a specimen. And
 * parameters of every type (`_in` is R5's) that can name either.
 */
const OF_ONE_PATIENT = names(
  'patient subject identifier encounter episode context based-on part-of derived-from has-member focus specimen result ' +
    'media evidence-detail reason-reference related relatesto ' +
    '_has _list _in _filter _query _content _text _source _tag _security',
);

/** R4's search parameters of Patient: each of them chooses patients. */
const OF_PATIENTS = names(
  'active address address-city address-country address-postalcode address-state address-use birthdate death-date deceased ' +
    'email family gender general-practitioner given language link name organization phone phonetic telecom',
);

/** Parameters of Bulk Data Access that choose patients or resources, and not types, times or elements. */
const OF_EXPORTS = names('patient _typefilter');

/** What only adds to the resources that are found; `_include:iterate` has a modifier all the same. */
const ADDING = names('_include _revinclude');

/** @param name of a parameter of a search that is not supported */
export function mayLeaveOut(type: ResourceType, name: string): boolean {
  const [base = '', ...rest] = name.toLowerCase().split(/[:.]/);
  if (ADDING.has(base)) return true;
  // Only what filters has modifiers and chains.
  return rest.length === 0 && !OF_ONE_PATIENT.has(base) && !(type === 'Patient' && OF_PATIENTS.has(base));
}

/** @param name of a parameter of an export that is not supported */
export const mayLeaveOutOfExport = (name: string): boolean => !OF_EXPORTS.has(name.toLowerCase());

/** For the message of a parameter that is refused although `handling=lenient` was asked for. */
export const NEVER_LEFT_OUT =
  'handling=lenient does not leave it out, since data of other patients could be found: remove it, or use a supported parameter';
