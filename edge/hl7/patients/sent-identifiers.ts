/** The identifiers and the person in a segment: PID-3 and similar fields. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { componentOf, locatePart, repetitions, type Part } from '../../../shared/hl7/value.ts';
import type { JsonObject } from '../../../shared/json.ts';
import {
  bareAuthority,
  authorityOfIdentifier,
  MAX_NAMES,
  type IdentifierRow,
  type PersonName,
} from '../../store/patient-identity.ts';
import { quietly, type MapContext } from '../mapping/context.ts';
import { codeOf } from '../mapping/datatypes/cwe.ts';
import { fieldText, first, plainTextOf, textOf } from '../mapping/datatypes/text.ts';
import { date } from '../mapping/datatypes/time.ts';
import { familyName } from '../mapping/datatypes/xpn.ts';
import { ADMINISTRATIVE_SEX } from '../mapping/tables/concept-maps.ts';
import { designator } from './authorities.ts';
import { assigningAuthorityOf, uriOfUniversalId, type Authorities } from '../mapping/assigning-authority.ts';
import { isIdentifyingType, isPlaceholder, type IdentifierKind } from './identifier-rules.ts';
import type { Person } from './person.ts';
import type { SentIdentifier } from './identifier-holders.ts';

/** The site's rules for identifiers. */
export interface IdentifierRules {
  /** Type codes that identify beside the fixed ones; in capitals. */
  readonly identifyingTypes: ReadonlySet<string>;
  /** Values that stand for no identifier; in capitals. */
  readonly placeholders: ReadonlySet<string>;
  /** YYYY-MM-DD */
  readonly placeholderBirthDates: ReadonlySet<string>;
}

/** An identifier of the message, with the authorities that it is stored with. */
export interface ReadIdentifier extends SentIdentifier {
  /** The authority, and the sent namespace if the site has given it a URI: the site may remove the URI again. */
  readonly storedAs: readonly string[];
}

/** Longer values are rejected where they are mapped. */
const MAX_VALUE_LENGTH = 200;

/** The values of a field, for the lookup, without placeholders: a site may have thousands of them. */
export function valuesOfField(segment: Segment, field: number): string[] {
  return repetitions(segment, field).flatMap((part) => {
    const value = plainTextOf(part, 1);
    return value === undefined || value.length > MAX_VALUE_LENGTH || isPlaceholder(value, kindOf(part), NONE)
      ? []
      : [value];
  });
}

const NONE: ReadonlySet<string> = new Set();

function kindOf(part: Part): IdentifierKind {
  const { namespace, universalId } = designator(part, 4);
  return { type: textOf(part, 5), hasAuthority: (namespace ?? universalId) !== undefined };
}

/** The identifiers of a field without placeholders and repetitions, in their order. */
export function identifiersOfField(
  segment: Segment,
  field: number,
  authorities: Authorities,
  rules: IdentifierRules,
): ReadIdentifier[] {
  const identifiers = repetitions(segment, field).flatMap((part) => numberOf(part, authorities, rules) ?? []);
  const seen = new Set<string>();
  return identifiers.filter(({ value, authority: { id }, identifies }) => {
    const key = JSON.stringify([value, id, identifies]);
    return !seen.has(key) && seen.add(key);
  });
}

function numberOf(part: Part, authorities: Authorities, rules: IdentifierRules): ReadIdentifier | undefined {
  const value = plainTextOf(part, 1);
  const kind = kindOf(part);
  if (value === undefined || value.length > MAX_VALUE_LENGTH || isPlaceholder(value, kind, rules.placeholders))
    return undefined;
  const { type } = kind;
  const designated = designator(part, 4);
  const authority = assigningAuthorityOf(designated, designator(part, 6), authorities);
  const { namespace, universalId } = designated;
  const sentAs =
    namespace !== undefined && uriOfUniversalId(universalId) === undefined ? [bareAuthority(namespace)] : [];
  return {
    value,
    type: (type ?? '').slice(0, MAX_VALUE_LENGTH),
    authority,
    storedAs: [authority.id, ...sentAs.filter((name) => name !== authority.id && authority.ids.includes(name))],
    identifies: isIdentifyingType(type, rules.identifyingTypes),
    at: locatePart(part, 1),
  };
}

/** The first identifying identifier of PID-3. */
export const leadingOf = (identifiers: readonly ReadIdentifier[]): ReadIdentifier | undefined =>
  identifiers.find(({ identifies, isAlternate }) => identifies && isAlternate !== true);

/** @param led true for the leading identifier of PID-3 */
export const rowsOf = ({ storedAs, value, type, authority }: ReadIdentifier, led: boolean): IdentifierRow[] =>
  storedAs.map((id) => [id, value, type, led, authority.isAssumed]);

/** Checks whether a stored Identifier is this identifier. */
export function isItemOf(item: JsonObject, { value, authority }: SentIdentifier): boolean {
  if (item['value'] !== value) return false;
  const stored = authorityOfIdentifier(item);
  return authority.ids.includes(stored) || (authority.isAssumed && stored === bareAuthority(''));
}

/** Checks whether an identifier has the assigning authority of another one. */
export const hasAuthorityOf = ({ authority }: SentIdentifier, other: SentIdentifier): boolean =>
  other.authority.ids.includes(authority.id);

export const isSame = (a: ReadIdentifier, b: ReadIdentifier): boolean => a.value === b.value && hasAuthorityOf(b, a);

/** The person of a PID. Values that cannot be read are absent. */
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
      family: familyName(componentOf(part, 1)),
      given: plainTextOf(part, 2),
      otherGiven: plainTextOf(part, 3),
      prefix: plainTextOf(part, 5),
      text: undefined,
    }))
    .filter(({ family, given }) => family !== undefined || given !== undefined)
    .slice(0, MAX_NAMES);
}
