/** The charts that a message finds or makes, as the rules of identity look at them. */
import type { JsonObject } from '../../../shared/json.ts';
import { namesOf, readTraits } from '../../store/patient-identity.ts';
import type { Draft, Drafts } from '../mapping/drafts.ts';
import { isIdentifyingType, isPlaceholder } from './identifier-rules.ts';
import type { ChartPerson } from './person.ts';
import type { Chart, KnownNumber } from './resolve.ts';
import type { NumberRules } from './sent-identifiers.ts';
import { survivorOf } from './survivor.ts';

export function chartsOf(drafts: Drafts): ReadonlyMap<string, Chart> {
  return new Map(
    drafts
      .patients()
      .map((draft) => [
        draft.id,
        { id: draft.id, survivor: survivorOf(draft, drafts).id, person: personOfChart(draft) },
      ]),
  );
}

function personOfChart({ content, traits }: Draft): ChartPerson {
  const { names, birthDates } = readTraits(traits);
  return {
    names: namesOf(content),
    birthDate: textOf(content, 'birthDate'),
    sex: textOf(content, 'gender'),
    birthOrder: typeof content['multipleBirthInteger'] === 'number' ? content['multipleBirthInteger'] : undefined,
    pastNames: names,
    pastBirthDates: birthDates,
  };
}

const textOf = (content: JsonObject, member: string): string | undefined => {
  const value = content[member];
  return typeof value === 'string' ? value : undefined;
};

export function knownNumbers(drafts: Drafts, rules: NumberRules): readonly KnownNumber[] {
  return drafts.patients().flatMap(({ id, numbers }) =>
    numbers.map(([domain, value, type, led, isAssumed]) => ({
      patient: id,
      domain,
      value,
      identifies:
        isIdentifyingType(type === '' ? undefined : type, rules.identifyingTypes) &&
        !isPlaceholder(value, rules.placeholders),
      led,
      isAssumed,
    })),
  );
}
