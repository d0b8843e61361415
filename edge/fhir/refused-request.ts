/**
 * The reason of a rejected request for the list of refusals. It has the issue types of the OperationOutcome, and the elements,
 * parameters or headers that the issues are about. The reason has names of R4 only. Diagnostics, and names that a client made up,
 * may contain data of a patient.
 */
import type { Fault, Issue } from '../../shared/fault.ts';
import { labelFor } from '../refusals.ts';
import { issuesOf } from './outcome.ts';
import { isElementName } from './validate/definitions.ts';

/** More sentences make a reason no clearer, and each combination counts as another reason. */
const MAX_SENTENCES = 3;
const UNKNOWN = '…';

/** R4's search parameters of the seven types and of all types, and the parameters of operations and controls. */
const PARAMETER_NAMES =
  // prose-allow: sentence
  '_content _id _lastUpdated _profile _query _security _source _tag _text _count _sort _total _summary _elements _format ' +
  '_pretty _include _revinclude _contained _containedType _has _filter _type _list _cursor _since _at _outputFormat ' +
  '_typeFilter mode profile start end abatement-age abatement-date abatement-string active address address-city ' +
  'address-country address-postalcode address-state address-use asserter authenticator author based-on birthdate body-site ' +
  'category clinical-status code code-value-concept code-value-date code-value-quantity code-value-string combo-code ' +
  'combo-value-concept combo-value-quantity component-code component-value-concept component-value-quantity conclusion ' +
  'contenttype criticality custodian data-absent-reason date death-date deceased derived-from description device email ' +
  'encounter event evidence evidence-detail facility family focus format gender general-practitioner given has-member ' +
  'identifier instantiates-canonical instantiates-uri issued language last-date link location manifestation media method ' +
  'name onset onset-age onset-date onset-info organization part-of patient performer period phone phonetic reason-code ' +
  'reason-reference recorded-date recorder related relatesto relation relationship result results-interpreter route ' +
  'security-label setting severity specimen stage status subject telecom type value-concept value-date value-quantity ' +
  'value-string verification-status';
const PARAMETERS = new Set(PARAMETER_NAMES.split(' '));

/** Headers that a reason can name. */
const HEADERS = new Set(
  (
    'Accept Content-Type Content-Encoding Content-Range If-Match If-Modified-Since If-None-Exist If-None-Match ' +
    'If-Unmodified-Since Prefer X-HTTP-Method X-HTTP-Method-Override X-Method-Override X-Provenance'
  ).split(' '),
);

/** `Patient.name[0].given` without its positions, so that one fault in many entries is one reason. */
function pathOf(at: string): string {
  const steps = at.replaceAll(/\[\d+\]|\.ofType\([^()]*\)/g, '').split('.');
  return steps.map((step) => (isElementName(step) ? step : UNKNOWN)).join('.');
}

function placeOf(at: string): string {
  if (!at.startsWith('http.')) return pathOf(at);
  const name = at.slice('http.'.length);
  if (HEADERS.has(name)) return `the header ${name}`;
  const [base = ''] = name.split(/[:.]/);
  return PARAMETERS.has(base) ? `the parameter ${base}` : 'a parameter that R4 does not have here';
}

const sentenceOf = ({ code, at }: Issue): string =>
  at === undefined ? labelFor(code) : `${placeOf(at)}: ${labelFor(code)}`;

/** For these kinds the message is the gateway's, without data of the request: tokens, scopes, limits, outages. */
const OWN_SENTENCE: ReadonlySet<Fault['kind']> = new Set(['unauthenticated', 'forbidden', 'throttled', 'unavailable']);

/** @param fault undefined for a bug of the gateway */
export function refusalReason(fault: Fault | undefined): { readonly code: string; readonly reason: string } {
  if (fault === undefined) return { code: 'exception', reason: labelFor('exception') };
  if (OWN_SENTENCE.has(fault.kind)) {
    return { code: fault.code ?? issuesOf(fault)[0]?.code ?? fault.kind, reason: fault.message };
  }
  const isPlain = fault.issues.length === 0;
  // A false condition has the issue type of a conflict, so the code of the Fault is more precise.
  if (isPlain) return { code: fault.code ?? fault.kind, reason: labelFor(fault.code ?? fault.kind) };
  const sentences = [...new Set(fault.issues.map(sentenceOf))];
  const more = sentences.length > MAX_SENTENCES ? `; and ${sentences.length - MAX_SENTENCES} more` : '';
  return { code: fault.issues[0]?.code ?? fault.kind, reason: sentences.slice(0, MAX_SENTENCES).join('; ') + more };
}
