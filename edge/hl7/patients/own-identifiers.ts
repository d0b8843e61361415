/** The identifiers of PID-3 that may be the person's own. PID-3 may list those of relatives too. */
import { holdersOf, survivors, type SentIdentifier } from './identifier-holders.ts';
import { hasNameOf, isNewborn, type Person } from './person.ts';
import { agrees, contradicts, fitOf, type ResolveRequest } from './resolve-request.ts';

export const ownIdentifying = ({ identifiers }: ResolveRequest): readonly SentIdentifier[] =>
  identifiers.filter(({ identifies, isAlternate }) => identifies && isAlternate !== true);

/**
 * The identifiers that may be the person's own: the first one of PID-3, unless its patient is another person. A message may begin
 * with the number of the mother or of a twin.
 *
 * @returns several if they cannot be distinguished
 */
export function ownIdentifiers(
  identifying: readonly SentIdentifier[],
  request: ResolveRequest,
): readonly SentIdentifier[] {
  const [first, ...others] = identifying;
  const ledBy = (identifier: SentIdentifier): readonly string[] =>
    survivors(
      holdersOf(identifier, request).filter(({ led }) => led),
      request,
    );
  const [owner, ...more] = first === undefined ? [] : ledBy(first);
  if (first === undefined || owner === undefined || more.length > 0) return identifying.slice(0, 1);
  const ofTwin = maybeOfTwin(owner, first, others, ledBy, request);
  if (ofTwin !== undefined) return [first, ofTwin];
  const fitting = fitOf(owner, request);
  if (fitting === 'fits' || agrees(owner, request)) return [first];
  const agreeing = others.find((other) => ledBy(other).some((id) => id !== owner && agrees(id, request)));
  if (agreeing !== undefined) return [agreeing];
  const stored = request.patients.get(owner)?.person;
  const isChildOf =
    isNewborn(request.person, request.today) && stored !== undefined && !isNewborn(stored, request.today);
  if (fitting !== 'contradicts' || !isChildOf) return [first];
  const own = others.filter((other) => ledBy(other).every((id) => id !== owner && !contradicts(id, request)));
  // A result does not show whose number a new one is: it is rejected for the contradiction.
  if (!request.isAdmission && own.some((other) => ledBy(other).length === 0)) return [first];
  if (own.length > 0) return own;
  // No identifier shows which of these patients is the newborn, and the mother is not.
  const ofAnother = others.find((other) => ledBy(other).some((id) => id !== owner));
  return ofAnother === undefined ? [first] : [first, ofAnother];
}

/**
 * Returns the identifier that may be a twin's own. Two newborns without a common name have the first one, and beside it different
 * numbers of its authority. It may be their mother's, or one newborn's with the numbers of several relatives.
 */
function maybeOfTwin(
  owner: string,
  first: SentIdentifier,
  others: readonly SentIdentifier[],
  ledBy: (identifier: SentIdentifier) => readonly string[],
  { patients, person, today }: ResolveRequest,
): SentIdentifier | undefined {
  const isBorn = (of: Person | undefined): boolean => of !== undefined && isNewborn(of, today);
  const stored = patients.get(owner);
  if (stored === undefined || !isBorn(person) || !isBorn(stored.person) || hasNameOf(person, stored.person))
    return undefined;
  const { ids } = first.authority;
  const current = stored.identifiers.filter(({ authority, value }) => value !== first.value && ids.includes(authority));
  const known = [...current.map(({ value }) => value), ...(stored.person.beside ?? [])];
  const sent = others.filter(({ authority }) => authority.ids.some((id) => ids.includes(id)));
  if (known.length === 0 || known.some((value) => sent.some((each) => each.value === value))) return undefined;
  return sent.find((each) => ledBy(each).every((id) => id !== owner && isBorn(patients.get(id)?.person)));
}
