/** Common purposes of API keys: each fills in the form, so that name, public key and addresses remain. */
import { SCOPES } from '../../../shared/oauth/scope.ts';
import { textsOf } from '../../members/input.ts';
import type { FieldTexts } from '../../members/texts.ts';
import { KEY_MEMBERS } from '../../members/api-key.ts';

type MemberName = keyof typeof KEY_MEMBERS;

export interface Preset {
  /** The value of `?preset=`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** As the API answers them. */
  readonly members: Readonly<Partial<Record<MemberName, unknown>>>;
}

/** Write access for results, documents and admissions. */
const LAB_SCOPES = ['Patient', 'Observation', 'DiagnosticReport', 'DocumentReference'].map(
  (type) => `system/${type}.write`,
);

export const PRESETS: readonly Preset[] = [
  {
    name: 'reader',
    title: 'FHIR reader',
    description: 'Reads and searches all seven types.',
    members: { protocols: ['fhir'], allowedScopes: SCOPES.filter((scope) => scope.endsWith('.read')) },
  },
  {
    name: 'writer',
    title: 'FHIR writer',
    description: 'Reads and writes all seven types.',
    members: { protocols: ['fhir'], allowedScopes: SCOPES },
  },
  {
    name: 'lab-http',
    title: 'Lab feed, HL7 over HTTP',
    description: 'Posts HL7 v2 messages with a token.',
    // The first audience applies to token requests without one.
    members: { protocols: ['hl7'], allowedScopes: LAB_SCOPES, allowedAudiences: ['svc-hl7-http'] },
  },
  {
    name: 'lab-mllp',
    title: 'Lab feed, HL7 over MLLP',
    description:
      'Sends HL7 v2 over its own connection; the gateway recognizes it by address, MSH-3 and MSH-4. It needs no token, but a public key like every client.',
    members: { protocols: ['hl7-mllp'], allowedScopes: LAB_SCOPES },
  },
];

export const presetNamed = (name: string | undefined): Preset | undefined =>
  PRESETS.find((preset) => preset.name === name);

/** The texts of the fields that a preset fills in. */
export const textsOfPreset = ({ members }: Preset): FieldTexts =>
  Object.fromEntries(
    Object.entries(KEY_MEMBERS).flatMap(([name, member]) => {
      const value = Object.entries(members).find(([given]) => given === name)?.[1];
      return value === undefined || !('input' in member) ? [] : [[name, textsOf(member.input, value)]];
    }),
  );
