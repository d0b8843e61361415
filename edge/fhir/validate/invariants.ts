/**
 * The invariants of the types in the table (FHIR R4, ElementDefinition.constraint), by id. They are written by hand from their
 * FHIRPath. All have severity error; txt-1 and txt-2 are in `xhtml.ts`. Warnings and best practice are not included.
 */
import { isJsonObject, JsonNumber, objectsOf, type Json, type JsonObject } from '../../../shared/json.ts';
import {
  codings,
  containedWhere,
  equalityKey,
  has,
  hasChoice,
  hasMeta,
  homes,
  implies,
  isAbove,
  isCoded,
  isInError,
  isUcum,
  notNegative,
  numberOf,
  refersToContainer,
  startsWith,
  UCUM,
} from './elements.ts';
import { isAfter } from './moment.ts';

/** The facts that an invariant may need about the resource around the element. */
export interface Scope {
  /** Types of the contained resources, by id. */
  readonly contained: ReadonlyMap<string, string>;
  /** Every `#id` that a reference, uri, url or canonical holds. */
  readonly localReferences: ReadonlySet<string>;
  readonly withinContained: boolean;
}

export interface Invariant {
  readonly id: string;
  readonly message: string;
  /** True when it holds; else false, or the places below the element where it does not. */
  readonly holds: (element: JsonObject, scope: Scope) => boolean | readonly string[];
}

/** Events that have no before and after. */
const MEALS: readonly Json[] = ['C', 'CM', 'CD', 'CV'];

type Rule = readonly [id: string, message: string, holds: Invariant['holds']];

const RULES: readonly Rule[] = [
  [
    'ele-1',
    'an element needs a value, an extension or another child beside id',
    (e) => {
      for (const member in e) if (member !== 'id') return true;
      return false;
    },
  ],
  ['ext-1', 'an extension has either a value or extensions', (e) => has(e, 'extension') !== hasChoice(e, 'value')],
  [
    'dom-2',
    'a contained resource must not contain resources',
    (e) => containedWhere(e, '.contained', (resource) => has(resource, 'contained')),
  ],
  [
    'dom-3',
    'a contained resource must be referred to from the resource, or refer to it',
    (e, { localReferences, withinContained }) =>
      containedWhere(e, '', (resource) => {
        const id = resource['id'];
        return (
          !withinContained && typeof id === 'string' && !localReferences.has(`#${id}`) && !refersToContainer(resource)
        );
      }),
  ],
  [
    'dom-4',
    'a contained resource must not have meta.versionId or meta.lastUpdated',
    (e) => containedWhere(e, '.meta', (resource) => hasMeta(resource, 'versionId', 'lastUpdated')),
  ],
  [
    'dom-5',
    'a contained resource must not have a security label',
    (e) => containedWhere(e, '.meta.security', (resource) => hasMeta(resource, 'security')),
  ],
  [
    'ref-1',
    'a local reference must name a contained resource',
    ({ reference }, { contained, withinContained }) => {
      if (typeof reference !== 'string' || !reference.startsWith('#')) return true;
      return reference === '#' ? withinContained : contained.has(reference.slice(1));
    },
  ],
  ['qty-3', 'a code for the unit needs its system', (e) => implies(has(e, 'code'), has(e, 'system'))],
  ['sqty-1', 'no comparator is allowed here', (e) => !has(e, 'comparator')],
  [
    'rat-1',
    'numerator and denominator go together; without both there must be an extension',
    (e) => has(e, 'numerator') === has(e, 'denominator') && (has(e, 'numerator') || has(e, 'extension')),
  ],
  ['rng-2', 'low must not be above high', ({ low, high }) => !isAbove(low, high)],
  ['tim-1', 'a duration needs durationUnit', (e) => implies(has(e, 'duration'), has(e, 'durationUnit'))],
  ['tim-2', 'a period needs periodUnit', (e) => implies(has(e, 'period'), has(e, 'periodUnit'))],
  ['tim-4', 'duration must not be negative', ({ duration }) => notNegative(duration)],
  ['tim-5', 'period must not be negative', ({ period }) => notNegative(period)],
  ['tim-6', 'periodMax needs a period', (e) => implies(has(e, 'periodMax'), has(e, 'period'))],
  ['tim-7', 'durationMax needs a duration', (e) => implies(has(e, 'durationMax'), has(e, 'duration'))],
  ['tim-8', 'countMax needs a count', (e) => implies(has(e, 'countMax'), has(e, 'count'))],
  [
    'tim-9',
    'an offset needs a when, other than C, CM, CD and CV',
    (e) => {
      const { when } = e;
      return implies(
        has(e, 'offset'),
        has(e, 'when') && !(Array.isArray(when) && when.some((code) => MEALS.includes(code))),
      );
    },
  ],
  ['tim-10', 'timeOfDay and when exclude each other', (e) => !has(e, 'timeOfDay') || !has(e, 'when')],
  [
    'per-1',
    'start must not be after end',
    ({ start, end }) => !(typeof start === 'string' && typeof end === 'string' && isAfter(start, end)),
  ],
  [
    'drt-1',
    'a duration with a code needs a value and the UCUM system',
    (e) => implies(has(e, 'code'), e['system'] === UCUM && has(e, 'value')),
  ],
  [
    'dis-1',
    'a distance with a value needs a code, and its system is UCUM',
    (e) => implies(has(e, 'value'), has(e, 'code')) && isUcum(e),
  ],
  [
    'cnt-3',
    'a count is a whole number with the UCUM code 1',
    (e) => {
      const { value } = e;
      const isInteger =
        Number.isInteger(numberOf(value) ?? 0) && !(value instanceof JsonNumber && value.source.includes('.'));
      return (
        implies(has(e, 'value'), has(e, 'code')) && isUcum(e) && implies(has(e, 'code'), e['code'] === '1') && isInteger
      );
    },
  ],
  [
    'age-1',
    'an age is positive and has a code of the UCUM system',
    (e) => implies(has(e, 'value'), has(e, 'code')) && isUcum(e) && (numberOf(e['value']) ?? 1) > 0,
  ],
  ['trd-1', 'a trigger has either timing or data', (e) => !has(e, 'data') || !hasChoice(e, 'timing')],
  ['trd-2', 'a condition needs data', (e) => implies(has(e, 'condition'), has(e, 'data'))],
  [
    'trd-3',
    'a named event needs a name, a periodic one timing, a data event data',
    (e) =>
      implies(e['type'] === 'named-event', has(e, 'name')) &&
      implies(e['type'] === 'periodic', hasChoice(e, 'timing')) &&
      implies(startsWith(e['type'], 'data-'), has(e, 'data')),
  ],
  ['exp-1', 'an expression or a reference is required', (e) => has(e, 'expression') || has(e, 'reference')],
  ['drq-1', 'either path or searchParam is required', (e) => has(e, 'path') !== has(e, 'searchParam')],
  ['drq-2', 'either path or searchParam is required', (e) => has(e, 'path') !== has(e, 'searchParam')],
  ['att-1', 'data needs a contentType', (e) => implies(has(e, 'data'), has(e, 'contentType'))],
  ['cpt-2', 'a value needs a system', (e) => implies(has(e, 'value'), has(e, 'system'))],
  [
    'pat-1',
    'a contact needs a name, telecom, address or organization',
    (e) => has(e, 'name') || has(e, 'telecom') || has(e, 'address') || has(e, 'organization'),
  ],
  [
    'con-4',
    'abatement needs a clinicalStatus of inactive, resolved or remission',
    (e) =>
      implies(
        hasChoice(e, 'abatement'),
        isCoded(e, 'clinicalStatus', 'condition-clinical', ['inactive', 'resolved', 'remission']),
      ),
  ],
  [
    'con-5',
    'clinicalStatus must be absent when verificationStatus is entered-in-error',
    (e) => !isInError(e, 'condition-ver-status') || !has(e, 'clinicalStatus'),
  ],
  ['con-1', 'a stage needs a summary or an assessment', (e) => has(e, 'summary') || has(e, 'assessment')],
  ['con-2', 'evidence needs a code or a detail', (e) => has(e, 'code') || has(e, 'detail')],
  [
    'ait-1',
    'clinicalStatus is required unless verificationStatus is entered-in-error',
    (e) => isInError(e, 'allergyintolerance-verification') || has(e, 'clinicalStatus'),
  ],
  [
    'ait-2',
    'clinicalStatus must be absent when verificationStatus is entered-in-error',
    (e) => !isInError(e, 'allergyintolerance-verification') || !has(e, 'clinicalStatus'),
  ],
  [
    'obs-6',
    'dataAbsentReason is only for an Observation without a value',
    (e) => !has(e, 'dataAbsentReason') || !hasChoice(e, 'value'),
  ],
  [
    'obs-7',
    'an Observation with a value must not have a component with the same code',
    (e) => {
      const components = objectsOf(e['component']);
      if (components.length === 0 || !hasChoice(e, 'value')) return true;
      const own = new Set(codings(e, 'code').map((coding) => equalityKey(coding)));
      return !components.some((component) => codings(component, 'code').some((coding) => own.has(equalityKey(coding))));
    },
  ],
  ['obs-3', 'a reference range needs low, high or text', (e) => has(e, 'low') || has(e, 'high') || has(e, 'text')],
  // The types that are only checked when contained.
  ['cpl-3', 'an activity has either a detail or a reference', (e) => !has(e, 'detail') || !has(e, 'reference')],
  [
    'ctm-1',
    'onBehalfOf is only for a member that is a Practitioner',
    ({ onBehalfOf, member }, { contained }) => {
      const reference = isJsonObject(member) ? member['reference'] : undefined;
      if (onBehalfOf === undefined || typeof reference !== 'string') return true;
      return (contained.get(reference.slice(1)) ?? 'Practitioner') === 'Practitioner';
    },
  ],
  ['grp-1', 'members need actual to be true', (e) => implies(has(e, 'member'), e['actual'] === true)],
  ['imm-1', 'education needs a documentType or a reference', (e) => has(e, 'documentType') || has(e, 'reference')],
  ['mad-1', 'a dosage needs a dose or a rate', (e) => has(e, 'dose') || hasChoice(e, 'rate')],
  [
    'mdd-1',
    'whenPrepared must not be after whenHandedOver',
    ({ whenPrepared: from, whenHandedOver: to }) =>
      !(typeof from === 'string' && typeof to === 'string' && isAfter(from, to)),
  ],
  ['org-1', 'an Organization needs an identifier or a name', (e) => has(e, 'identifier') || has(e, 'name')],
  ['org-2', 'an address of an Organization is never of use home', (e) => homes(e, 'address')],
  ['org-3', 'a telecom of an Organization is never of use home', (e) => homes(e, 'telecom')],
  ['sev-1', 'an entity has a name or a query, not both', (e) => !(has(e, 'name') && has(e, 'query'))],
  ['prr-1', 'orderDetail needs a code', (e) => implies(has(e, 'orderDetail'), has(e, 'code'))],
];

/** By id; `definitions.ts` hangs them on the types. */
export const INVARIANTS: Readonly<Record<string, Invariant>> = Object.fromEntries(
  RULES.map(([id, message, holds]) => [id, { id, message, holds }]),
);
