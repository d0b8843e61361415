/** What a segment says of who its patient is: the numbers of PID-3 and their like, and the person. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { locatePart, repetitions, type Part } from '../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../shared/json.ts';
import {
  bareNameDomain,
  domainOfIdentifier,
  MAX_NAMES,
  type NumberRow,
  type PersonName,
} from '../../store/patient-identity.ts';
import { quietly, type MapContext } from '../mapping/context.ts';
import { codeOf } from '../mapping/datatypes/cwe.ts';
import { fieldText, first, textOf } from '../mapping/datatypes/text.ts';
import { date } from '../mapping/datatypes/time.ts';
import { ADMINISTRATIVE_SEX } from '../mapping/tables/concept-maps.ts';
import { designator } from './authorities.ts';
import { domainOf, uriOfUniversalId, type Authorities } from '../mapping/assigning-authority.ts';
import { isIdentifyingType, isPlaceholder } from './identifier-rules.ts';
import type { Person } from './person.ts';
import type { SentIdentifier } from './resolve.ts';

/** What the site says of numbers. */
export interface IdentifierRules {
  /** Types that identify beside those that always do; in capitals. */
  readonly identifyingTypes: ReadonlySet<string>;
  /** Numbers that stand for none; in capitals. */
  readonly placeholders: ReadonlySet<string>;
  /** YYYY-MM-DD. */
  readonly placeholderBirthDates: ReadonlySet<string>;
}

/** A number of the message, and how it is remembered. */
export interface ReadIdentifier extends SentIdentifier {
  /** The domain; and the namespace by which it was sent, where the site has given that a URI: it may take it back. */
  readonly storedAs: readonly string[];
}

/** Longer ones are refused where they are mapped. */
const MAX_VALUE_LENGTH = 200;

/** The values of a field, for the look-up: of what stands for no number a site may have thousands. */
export function valuesOfField(segment: Segment, field: number): string[] {
  return repetitions(segment, field).flatMap((part) => {
    const value = textOf(part, 1);
    return value === undefined || value.length > MAX_VALUE_LENGTH || isPlaceholder(value, NONE) ? [] : [value];
  });
}

const NONE: ReadonlySet<string> = new Set();

/** The numbers of a field without placeholders, each once, in its order. */
export function identifiersOfField(
  segment: Segment,
  field: number,
  authorities: Authorities,
  rules: IdentifierRules,
): ReadIdentifier[] {
  const identifiers = repetitions(segment, field).flatMap((part) => numberOf(part, authorities, rules) ?? []);
  const seen = new Set<string>();
  return identifiers.filter(({ value, domain: { id }, identifies }) => {
    const key = JSON.stringify([value, id, identifies]);
    return !seen.has(key) && seen.add(key);
  });
}

function numberOf(part: Part, authorities: Authorities, rules: IdentifierRules): ReadIdentifier | undefined {
  const value = textOf(part, 1);
  if (value === undefined || value.length > MAX_VALUE_LENGTH || isPlaceholder(value, rules.placeholders))
    return undefined;
  const type = textOf(part, 5);
  const authority = designator(part, 4);
  const domain = domainOf(authority, designator(part, 6), authorities);
  const { namespace, universalId } = authority;
  const sentAs =
    namespace !== undefined && uriOfUniversalId(universalId) === undefined ? [bareNameDomain(namespace)] : [];
  return {
    value,
    type: (type ?? '').slice(0, MAX_VALUE_LENGTH),
    domain,
    storedAs: [domain.id, ...sentAs.filter((name) => name !== domain.id && domain.ids.includes(name))],
    identifies: isIdentifyingType(type, rules.identifyingTypes),
    at: locatePart(part, 1),
  };
}

/** The first identifying number of PID-3. */
export const leadingOf = (identifiers: readonly ReadIdentifier[]): ReadIdentifier | undefined =>
  identifiers.find(({ identifies, isAlternate }) => identifies && isAlternate !== true);

/** @param led whether the number is the leading one of PID-3 */
export const rowsOf = ({ storedAs, value, type, domain }: ReadIdentifier, led: boolean): NumberRow[] =>
  storedAs.map((id) => [id, value, type, led, domain.isAssumed]);

/** Whether an Identifier of a chart is this number. */
export function isItemOf(item: JsonObject, { value, domain }: SentIdentifier): boolean {
  if (item['value'] !== value) return false;
  const stored = domainOfIdentifier(item);
  return domain.ids.includes(stored) || (domain.isAssumed && stored === bareNameDomain(''));
}

export const isSame = (a: ReadIdentifier, b: ReadIdentifier): boolean =>
  a.value === b.value && a.domain.ids.includes(b.domain.id);

/** The person that a PID describes; what cannot be read says nothing. */
export function personOf(pid: Segment, context: MapContext): Person {
  const sex = codeOf(first(pid, 8))?.toUpperCase() ?? '';
  const order = fieldText(pid, 25);
  return {
    names: namesOfField(pid, 5),
    birthDate: date(first(pid, 7), quietly(context)),
    sex: ADMINISTRATIVE_SEX.codes.get(sex)?.code,
    birthOrder: order !== undefined && /^\d{1,3}$/.test(order) ? Number(order) : undefined,
  };
}

/** XPN: PID-5, MRG-7. */
export function namesOfField(segment: Segment, field: number): PersonName[] {
  return repetitions(segment, field)
    .map((part) => ({
      family: textOf(part, 1),
      given: textOf(part, 2),
      otherGiven: textOf(part, 3),
      prefix: textOf(part, 5),
      text: undefined,
    }))
    .filter(({ family, given }) => family !== undefined || given !== undefined)
    .slice(0, MAX_NAMES);
}
