/** What most API keys are for: the form filled in for it, so that what is left is a name, a public key and addresses. */
import { SCOPES } from '../../../shared/oauth/scope.ts';
import { textsOf } from '../record/input.ts';
import type { FieldTexts } from '../record/texts.ts';
import { KEY_MEMBERS } from './record.ts';

type MemberName = keyof typeof KEY_MEMBERS;

export interface Preset {
  /** In the address: `?preset=reader`. */
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** As they are answered. */
  readonly members: Readonly<Partial<Record<MemberName, unknown>>>;
}

/** What results, documents and admissions are written as. */
const LAB_SCOPES = ['Patient', 'Observation', 'DiagnosticReport', 'DocumentReference'].map(
  (type) => `system/${type}.write`,
);

export const PRESETS: readonly Preset[] = [
  {
    name: 'reader',
    title: 'FHIR reader',
    what: 'Reads and searches all seven types, writes nothing.',
    members: { protocols: ['fhir'], allowedScopes: SCOPES.filter((scope) => scope.endsWith('.read')) },
  },
  {
    name: 'writer',
    title: 'FHIR writer',
    what: 'Reads and writes all seven types.',
    members: { protocols: ['fhir'], allowedScopes: SCOPES },
  },
  {
    name: 'lab-http',
    title: 'Lab feed, HL7 over HTTP',
    what: 'Posts HL7 v2 messages with a token.',
    // A request that names no audience gets the first of these.
    members: { protocols: ['hl7'], allowedScopes: LAB_SCOPES, allowedAudiences: ['svc-hl7-http'] },
  },
  {
    name: 'lab-mllp',
    title: 'Lab feed, HL7 over MLLP',
    what: 'Sends HL7 v2 over a connection of its own, known by its address, MSH-3 and MSH-4. It uses no token, but needs a public key like every client: its record, and whatever it is allowed later, hang on that.',
    members: { protocols: ['hl7-mllp'], allowedScopes: LAB_SCOPES },
  },
];

export const presetNamed = (name: string | undefined): Preset | undefined =>
  PRESETS.find((preset) => preset.name === name);

/** What the preset puts into the fields. */
export const textsOfPreset = ({ members }: Preset): FieldTexts =>
  Object.fromEntries(
    Object.entries(KEY_MEMBERS).flatMap(([name, member]) => {
      const value = Object.entries(members).find(([given]) => given === name)?.[1];
      return value === undefined || !('input' in member) ? [] : [[name, textsOf(member.input, value)]];
    }),
  );
