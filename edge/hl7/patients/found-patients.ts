/** The patients that a message finds or creates, as the rules of matching read them. */
import type { JsonObject } from '../../../shared/json.ts';
import { namesOf, readTraits } from '../../store/patient-identity.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { isIdentifyingType, isPlaceholder } from './identifier-rules.ts';
import type { StoredPerson } from './person.ts';
import type { StoredPatient, StoredIdentifier } from './identifier-holders.ts';
import type { IdentifierRules } from './sent-identifiers.ts';
import { mergedWith } from './merge-register.ts';
import { survivorOf } from './survivor.ts';

export function storedPatients(drafts: Drafts): ReadonlyMap<string, StoredPatient> {
  return new Map(
    drafts.patients().map((draft) => [
      draft.id,
      {
        id: draft.id,
        survivor: survivorOf(draft, drafts).id,
        person: storedPersonOf(draft),
        mergedWith: mergedWith(draft),
      },
    ]),
  );
}

function storedPersonOf({ content, traits }: Draft): StoredPerson {
  const { said, isDescribed } = readTraits([...traits]);
  return {
    names: namesOf(content),
    birthDate: textOf(content, 'birthDate'),
    sex: textOf(content, 'gender'),
    birthOrder: typeof content['multipleBirthInteger'] === 'number' ? content['multipleBirthInteger'] : undefined,
    said,
    isDescribed,
  };
}

const textOf = (content: JsonObject, member: string): string | undefined => {
  const value = content[member];
  return typeof value === 'string' ? value : undefined;
};

export function storedIdentifiers(drafts: Drafts, rules: IdentifierRules): readonly StoredIdentifier[] {
  return drafts.patients().flatMap(({ id, numbers }) =>
    numbers.map(([authority, value, sentType, led, isAssumed]) => {
      const type = sentType === '' ? undefined : sentType;
      const isReal = !isPlaceholder(value, { type, hasAuthority: !isAssumed }, rules.placeholders);
      const identifies = isReal && isIdentifyingType(type, rules.identifyingTypes);
      return { patient: id, authority, value, identifies, led, isAssumed };
    }),
  );
}
