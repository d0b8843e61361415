/** The personal data that a PID writes to a patient record. */
import { ERROR_REASONS } from '../../../shared/hl7/error-reason.ts';
import { locate } from '../../../shared/hl7/value.ts';
import { isJsonObject, type Json } from '../../../shared/json.ts';
import { nameOfAuthority } from '../../store/patient-identity.ts';
import { note } from '../mapping/context.ts';
import type { Draft } from '../mapping/drafts.ts';
import { PATIENT_SEGMENTS } from '../mapping/segments/registry.ts';
import { noteStale } from '../mapping/stale.ts';
import type { EventRule } from '../mapping/tables/events.ts';
import { fixed, type Contribution } from '../precedence/contribution.ts';
import type { SentIdentifier } from './identifier-holders.ts';
import type { PatientContext, PatientSegments } from './patient-context.ts';
import { isItemOf, rowsOf, type ReadIdentifier } from './sent-identifiers.ts';

interface Description {
  readonly segments: PatientSegments;
  readonly action: EventRule['patient'];
  readonly record: Draft;
  /** Patients that the record was renumbered to. */
  readonly joined: readonly Draft[];
  /** `merged`: the record belongs to a merged patient, and stays inactive. */
  readonly state: 'new' | 'known' | 'merged';
  readonly identifiers: readonly ReadIdentifier[];
  readonly leading: SentIdentifier | undefined;
  readonly foreign: ReadonlySet<SentIdentifier>;
  /** An identifier that a taught alias does not apply to. */
  readonly aliasRefused: SentIdentifier | undefined;
}

/** Writes the personal data to the record of the identifier. */
export function describe(
  { segments, action, record, joined, state, identifiers, leading, foreign, aliasRefused }: Description,
  identity: PatientContext,
): void {
  const { drafts, context, clock } = identity;
  const { pid, timing } = segments;
  const isDescribed = action !== 'deactivate' && (state === 'new' || action !== 'ensure');
  const contributions = demographics(segments, foreign, aliasRefused, identity);
  // A result's or document's data about its patient has the lowest precedence: it fills only elements without a value.
  const precedence = action === 'ensure' ? clock.lowPrecedenceOf(timing) : clock.precedenceOf(timing);
  if (isDescribed && state === 'merged' && joined.length === 0) {
    note(context, 'W', '205', `${locate(pid, 3)}^1^1`, ERROR_REASONS['merged-number'], 'merged-number');
  }
  const isActive = state === 'merged' || action === 'retain' ? [] : [fixed('active', action !== 'deactivate')];
  // If the person is deleted, only identifiers are written, so that late messages do not restore the personal data.
  const onlyIdentifiers = contributions.filter(({ element }) => element === 'identifier');
  const applied = [...isActive, ...(action === 'deactivate' ? onlyIdentifiers : contributions)];
  if (drafts.apply(record, applied, precedence).isStale && action !== 'ensure') noteStale(pid, context);
  // The identifiers are those of the merged record.
  const personal = applied.filter(({ element }) => element !== 'identifier' && element !== 'active');
  for (const patient of joined) drafts.apply(patient, personal, precedence);

  const own = identifiers.filter(
    (identifier) => !foreign.has(identifier) && (isDescribed || identifier.isAlternate !== true),
  );
  drafts.teach(
    record,
    own.flatMap((identifier) =>
      rowsOf(identifier, identifier === leading).filter(
        ([domain]) => identifier !== aliasRefused || identifier.authority.taught?.includes(domain) !== true,
      ),
    ),
  );
}

function demographics(
  { pid, more }: PatientSegments,
  foreign: ReadonlySet<SentIdentifier>,
  aliasRefused: SentIdentifier | undefined,
  { context }: PatientContext,
): Contribution[] {
  const sent = PATIENT_SEGMENTS.flatMap(({ name, contributions }) => {
    const segments = [pid, ...more].filter(({ id }) => id === name);
    return segments.length === 0 ? [] : contributions(segments, context);
  });
  return sent.map((contribution) => {
    if (contribution.element !== 'identifier' || !Array.isArray(contribution.value)) return contribution;
    const isForeign = (item: Json): boolean =>
      isJsonObject(item) && [...foreign].some((identifier) => isItemOf(item, identifier));
    const own = contribution.value.filter((item) => !isForeign(item));
    return {
      ...contribution,
      value: own.map((item) => (aliasRefused === undefined ? item : asSent(item, aliasRefused))),
    };
  });
}

/** The Identifier without the URI that an alias gave it. */
function asSent(item: Json, identifier: SentIdentifier): Json {
  const { id, ids, taught = [] } = identifier.authority;
  const name = ids.filter((each) => !taught.includes(each)).flatMap((each) => nameOfAuthority(each) ?? [])[0];
  if (!isJsonObject(item) || !taught.includes(id) || !isItemOf(item, identifier) || name === undefined) return item;
  const { system: _system, ...others } = item;
  return { ...others, assigner: { display: name } };
}
