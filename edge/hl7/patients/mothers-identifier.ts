/** The identifier of a newborn's mother (HL7 v2.5.1 §3.4.2.21). PID-3 of a newborn may have it beside the newborn's own. */
import type { Segment } from '../../../shared/hl7/message.ts';
import { holdersOf, survivors, type StoredIdentity } from './identifier-holders.ts';
import type { PatientContext } from './patient-context.ts';
import { isNewborn, isOlder, type Person } from './person.ts';
import { hasAuthorityOf, identifiersOfField, isSame, type ReadIdentifier } from './sent-identifiers.ts';

/**
 * Moves the mother's identifiers behind the other ones of PID-3. Without another identifying one of their authority, PID-21 may
 * name the newborn's own. It is also wrong if all of these lead to older persons.
 *
 * @param replaced those of MRG, which are not among the other ones
 */
export function mothersLast(
  pid: Segment,
  identifiers: readonly ReadIdentifier[],
  replaced: readonly ReadIdentifier[],
  person: Person,
  { authorities, rules, today, found }: PatientContext,
): readonly ReadIdentifier[] {
  const named = identifiersOfField(pid, 21, authorities, rules);
  if (named.length === 0 || !isNewborn(person, today)) return identifiers;
  const isNamed = (identifier: ReadIdentifier): boolean =>
    named.some((other) => isSame(other, identifier) || (other.authority.isAssumed && other.value === identifier.value));
  const identifying = identifiers.filter(({ identifies, isAlternate }) => identifies && isAlternate !== true);
  const mothers = new Set(identifying.filter(isNamed));
  const isNear = (identifier: ReadIdentifier): boolean =>
    !mothers.has(identifier) &&
    !replaced.some((other) => isSame(other, identifier)) &&
    [...mothers].some((mother) => hasAuthorityOf(identifier, mother));
  const others = identifying.filter(isNear);
  const state = others.length === 0 ? undefined : found();
  const isOfOlder = (identifier: ReadIdentifier, stored: StoredIdentity): boolean => {
    const leading = holdersOf(identifier, stored).filter(({ led }) => led);
    return survivors(leading, stored).some((id) => isOlder(stored.patients.get(id)?.person, today));
  };
  if (state === undefined || others.every((identifier) => isOfOlder(identifier, state))) return identifiers;
  const rest = identifiers.filter((identifier) => !mothers.has(identifier));
  return [...rest, ...[...mothers].map((identifier) => ({ ...identifier, isMothers: true }))];
}
