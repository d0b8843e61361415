/**
 * Compares a person with stored patients by the rules for an ADT message (edge/hl7/patients), for `Patient/$match`. Pure: it
 * writes nothing, and a message with this person would be filed in the record that is certain.
 */
import type { JsonObject } from '../../../shared/json.ts';
import type { SenderRow } from '../../store/hl7-snapshot.ts';
import { identifierRowOf, isBareName, knownBy, nameOfAuthority } from '../../store/patient-identity.ts';
import type { Known } from '../../store/patient-match.ts';
import type { StoredResource } from '../../store/resource.ts';
import { areAlike } from '../alike/alike.ts';
import { type SenderSettings, settingsOf } from '../ingest/sender/settings.ts';
import { assigningAuthorityOf, type Authorities, uriOfUniversalId } from '../mapping/assigning-authority.ts';
import { createDrafts } from '../mapping/drafts.ts';
import { authoritiesOf } from '../patients/authorities.ts';
import { personOf, storedIdentity } from '../patients/found-patients.ts';
import { everyHolder, type SentIdentifier, survivors } from '../patients/identifier-holders.ts';
import { isIdentifyingType, isPlaceholder } from '../patients/identifier-rules.ts';
import { fit, mayBeAbout } from '../patients/person.ts';
import { agrees } from '../patients/resolve-request.ts';
import { resolve } from '../patients/resolve.ts';
import type { IdentifierRules } from '../patients/sent-identifiers.ts';
import { replacementIdOf } from '../patients/survivor.ts';

/** The codes of FHIR R4's extension match-grade. */
type Grade = 'certain' | 'probable' | 'possible' | 'certainly-not';

export interface Match {
  readonly stored: StoredResource;
  readonly grade: Grade;
  /** From 0 to 1. It only orders the matches. */
  readonly score: number;
}

export interface MatchRequest {
  /** A valid Patient. */
  readonly sent: JsonObject;
  readonly candidates: readonly { readonly stored: StoredResource; readonly known: Known }[];
  /** More patients than these may match: none is certain. */
  readonly isCrowded: boolean;
  readonly settings: SenderSettings;
  /** YYYY-MM-DD */
  readonly today: string;
}

const NOT_NAMED = { namespace: undefined, universalId: undefined };

/** The identifiers of a Patient of a FHIR client. An identifier without a system has an assumed authority. */
function identifiersOf(sent: JsonObject, authorities: Authorities, rules: IdentifierRules): SentIdentifier[] {
  return knownBy(sent).numbers.flatMap(([authority, value, sentType, , isAssumed]): SentIdentifier[] => {
    const type = sentType === '' ? undefined : sentType;
    if (isPlaceholder(value, { type, hasAuthority: !isAssumed }, rules.placeholders)) return [];
    const named = isBareName(authority)
      ? { namespace: nameOfAuthority(authority), universalId: undefined }
      : { namespace: undefined, universalId: authority };
    const resolved = assigningAuthorityOf(named, NOT_NAMED, authorities);
    // A system may be no URI that HL7 v2 knows. It is stored as it was sent.
    const ids = isAssumed ? resolved.ids : [...new Set([authority, ...resolved.ids])];
    const identifies = isIdentifyingType(type, rules.identifyingTypes);
    return [{ value, type: sentType, authority: { ...resolved, ids, isAssumed }, identifies, at: '' }];
  });
}

/** @param sender the JSON of `matchSettings` */
export const readSettings = (sender: string): SenderSettings => settingsOf(JSON.parse(sender) as SenderRow);

/** The patients that may be the person, the most likely first. A merged patient is represented by its survivor. */
export function matchPatients({ sent, candidates, isCrowded, settings, today }: MatchRequest): Match[] {
  const { authorities } = authoritiesOf(settings, undefined, []);
  const drafts = createDrafts(
    candidates.map(({ stored, known: { contributions } }) => ({
      role: 'patient',
      key: '',
      resource: stored,
      contributions,
    })),
    candidates.map(({ stored: { id }, known: { numbers, traits } }) => ({
      id,
      numbers: numbers.map((number) => identifierRowOf(JSON.stringify(number))),
      traits,
    })),
  );
  const identity = storedIdentity(drafts, authorities, settings);
  const { patients, placeholderDates } = identity;
  const person = personOf(sent);
  const identifiers = identifiersOf(sent, authorities, settings);
  // With `refuse`, an identifier never finds the patient record of another person.
  const request = { ...identity, identifiers, person, isAdmission: true, today, check: 'refuse' } as const;
  const resolution = resolve(request);
  const found = resolution.kind === 'known' ? resolution.patient : undefined;
  const holders = survivors(
    identifiers.flatMap((identifier) => everyHolder(identifier, request)),
    request,
  );

  const judge = (id: string, content: JsonObject): readonly [Grade, number] | undefined => {
    const stored = patients.get(id)?.person;
    if (stored === undefined) return undefined;
    const isHolder = holders.includes(id);
    const fitting = fit(person, stored, placeholderDates);
    if (fitting === 'contradicts') return isHolder ? ['certainly-not', 0] : undefined;
    const isAgreeing = agrees(id, request);
    if (isAgreeing && id === found && !isCrowded) return ['certain', 1];
    if (isAgreeing && isHolder) return ['probable', 0.9];
    if (isAgreeing)
      return ['probable', areAlike({ ...sent, id: '' }, { ...content, id }, placeholderDates) ? 0.8 : 0.7];
    if (id === found && fitting === 'fits') return ['probable', 0.6];
    if (isHolder) return ['possible', 0.5];
    return mayBeAbout(person, stored, placeholderDates) ? ['possible', 0.3] : undefined;
  };
  return drafts
    .patients()
    .flatMap(({ id, content, stored }): Match[] => {
      if (stored === undefined || replacementIdOf(content) !== undefined) return [];
      const [grade, score] = judge(id, content) ?? [];
      return grade === undefined || score === undefined ? [] : [{ stored, grade, score }];
    })
    .toSorted((a, b) => b.score - a.score || (a.stored.id < b.stored.id ? -1 : 1));
}

/** The identifiers of a Patient for the look-up, each once, without those that are placeholders at every site. */
export function lookupOf(sent: JsonObject): (readonly [value: string, authority: string | null])[] {
  const all = knownBy(sent).numbers.flatMap(([authority, value, type, , isAssumed]) =>
    isPlaceholder(value, { type: type === '' ? undefined : type, hasAuthority: !isAssumed }, new Set())
      ? []
      : [[value, isAssumed || uriOfUniversalId(authority) !== authority ? null : authority] as const],
  );
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
}
