/** The identifiers of PID that other patients have. */
import type { AckError } from '../../../shared/hl7/ack.ts';
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import { holdersOf, survivors, type SentIdentifier } from './identifier-holders.ts';
import { isNewborn, isOlder } from './person.ts';
import { finding, type ResolveRequest } from './resolve-request.ts';

interface ForeignIdentifiers {
  readonly foreign: ReadonlySet<SentIdentifier>;
  readonly beside: readonly string[];
  /** The patients that have those of PID-3, with a finding for each of these. */
  readonly owners: readonly string[];
  readonly findings: readonly AckError[];
}

/** Identifying identifiers, without the leading one, that only other patients have. */
export function foreignIdentifiers(
  patient: string | undefined,
  leading: SentIdentifier,
  absorbed: readonly string[],
  request: ResolveRequest,
): ForeignIdentifiers {
  const found = request.identifiers.flatMap((identifier) => {
    if (!identifier.identifies || identifier === leading) return [];
    const owners = survivors(holdersOf(identifier, request), request).filter((id) => !absorbed.includes(id));
    return owners.length === 0 || (patient !== undefined && owners.includes(patient)) ? [] : [{ identifier, owners }];
  });
  const { patients, today } = request;
  const isOfMother = ({ isMothers }: SentIdentifier, owners: readonly string[]): boolean =>
    isMothers === true && owners.every((id) => isOlder(patients.get(id)?.person, today));
  const own = found.filter(
    ({ identifier, owners }) => identifier.isAlternate !== true && !isOfMother(identifier, owners),
  );
  const areBorn = (owners: readonly string[]): boolean =>
    owners.every((id) => !isOlder(patients.get(id)?.person, today));
  const isNear = ({ authority }: SentIdentifier): boolean =>
    authority.ids.some((id) => leading.authority.ids.includes(id));
  return {
    foreign: new Set(found.map(({ identifier }) => identifier)),
    beside: isNewborn(request.person, today)
      ? own.flatMap(({ identifier, owners }) => (isNear(identifier) && areBorn(owners) ? identifier.value : []))
      : [],
    owners: own.flatMap(({ owners }) => owners),
    findings: own.map(({ identifier: { at } }) => identifiersOfSeveral(at)),
  };
}

const identifiersOfSeveral = (at: string): AckError =>
  finding('W', at, ERROR_REASONS['identifiers-of-several'], 'identifiers-of-several');
