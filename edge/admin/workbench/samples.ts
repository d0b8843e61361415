/**
 * Samples for each bench: a correct one, and common mistakes. Their data is made up. Assertions name a key of the site, but only
 * the holder of its private key can sign them.
 */
import {
  ASSERTION_ALGORITHM_NAMES,
  type AssertionAlgorithm,
  isNamed,
  keyTypeFor,
} from '../../../shared/oauth/algorithms.ts';
import { clientIdOf } from '../../../shared/oauth/client-id.ts';
import { readJwks } from '../../../shared/oauth/jwks.ts';
import type { KeyRow } from '../keys/statements.ts';
import type { Bench } from './benches.ts';

/** The values that fill in a sample. */
interface SampleFacts {
  /** The chosen key, or the first of the site; undefined without keys. */
  readonly key: Pick<KeyRow, 'client_id' | 'jwks'> | undefined;
  readonly tokenEndpoint: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Sample {
  readonly name: string;
  readonly title: string;
  readonly text: (facts: SampleFacts) => string;
}

type Json = Readonly<Record<string, unknown>>;

/** How the first usable key of an inline JWKS would sign. */
function signingOf(jwks: string | null): { readonly alg: AssertionAlgorithm; readonly kid?: string } {
  const key = jwks === null ? undefined : readJwks(jwks).keys.find(({ usable }) => usable);
  if (key === undefined) return { alg: 'ES256' };
  const own = ASSERTION_ALGORITHM_NAMES.find((name) => isNamed(name, key.jwk['alg']));
  const alg = own ?? ASSERTION_ALGORITHM_NAMES.find((name) => keyTypeFor(name) === key.type) ?? 'ES256';
  return { alg, ...(key.kid === undefined ? {} : { kid: key.kid }) };
}

const part = (value: Json): string =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** No signature that verifies, of the length that one of ES256 has. */
const NO_SIGNATURE = 'A'.repeat(86);

/** @param change members that differ from a correct assertion; null omits a member */
const assertion =
  (
    change: (facts: { readonly seconds: number; readonly tokenEndpoint: string }) => Json = () => ({}),
    header: Json = {},
  ) =>
  ({ key, tokenEndpoint, now }: SampleFacts): string => {
    const seconds = Math.floor(now / 1000);
    const clientId = key?.client_id ?? clientIdOf('00000000-0000-0000-0000-000000000000');
    const claims = {
      iss: clientId,
      sub: clientId,
      aud: tokenEndpoint,
      jti: crypto.randomUUID(),
      iat: seconds,
      exp: seconds + 120,
      ...change({ seconds, tokenEndpoint }),
    };
    const kept = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
    return `${part({ ...signingOf(key?.jwks ?? null), typ: 'JWT', ...header })}.${part(kept)}.${NO_SIGNATURE}`;
  };

const lines =
  (...segments: readonly string[]) =>
  (): string =>
    segments.join('\n');
const msh = (type: string, control: string): string =>
  `MSH|^~\\&|SAMPLE|SAMPLE|GATEWAY|GATEWAY|20260101120000+0000||${type}|${control}|P|2.5.1`;
const PID =
  'PID|1||SAMPLE-1^^^SAMPLE^MR||Sample^Ada^M||19701231|F|||1 Sample Street^^Sampletown^^12345^GB||+44 20 7946 0000';

const json = (resource: Json) => (): string => JSON.stringify(resource, null, 2);
const clinical = { system: 'http://loinc.org', code: '718-7', display: 'Hemoglobin [Mass/volume] in Blood' };
const patient = {
  resourceType: 'Patient',
  identifier: [{ system: 'urn:oid:2.16.840.1.113883.19.5', value: 'SAMPLE-1' }],
  name: [{ family: 'Sample', given: ['Ada', 'M'] }],
  gender: 'female',
  birthDate: '1970-12-31',
};
const observation = {
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [clinical] },
  subject: { reference: 'Patient/00000000-0000-0000-0000-000000000000' },
  effectiveDateTime: '2026-01-01T12:00:00Z',
  valueQuantity: { value: 7.2, unit: 'g/dL', system: 'http://unitsofmeasure.org', code: 'g/dL' },
};

export const SAMPLES: Readonly<Record<Bench, readonly Sample[]>> = {
  assertion: [
    { name: 'correct', title: 'Correct except for the signature', text: assertion() },
    {
      name: 'audience',
      title: 'aud is the base address, not the token endpoint',
      text: assertion(({ tokenEndpoint }) => ({ aud: new URL(tokenEndpoint).origin })),
    },
    {
      name: 'milliseconds',
      title: 'Times in milliseconds',
      text: assertion(({ seconds }) => ({ iat: seconds * 1000, exp: (seconds + 120) * 1000 })),
    },
    {
      name: 'expired',
      title: 'Expired: the clock is an hour behind',
      text: assertion(({ seconds }) => ({ iat: seconds - 3600, exp: seconds - 3480 })),
    },
    { name: 'subject', title: 'sub is a name, not the Client ID', text: assertion(() => ({ sub: 'laboratory' })) },
    { name: 'no-jti', title: 'Without jti', text: assertion(() => ({ jti: null })) },
    {
      name: 'shared-secret',
      title: 'Signed with a shared secret (HS256)',
      text: assertion(undefined, { alg: 'HS256' }),
    },
  ],
  message: [
    {
      name: 'adt-a04',
      title: 'ADT^A04: a patient is registered',
      text: lines(msh('ADT^A04^ADT_A01', 'SAMPLE-1'), 'EVN|A04|20260101120000+0000', PID, 'PV1|1|O'),
    },
    {
      name: 'oru-r01',
      title: 'ORU^R01: two results',
      text: lines(
        msh('ORU^R01^ORU_R01', 'SAMPLE-2'),
        PID,
        'ORC|RE|P-1^SAMPLE|F-1^SAMPLE',
        'OBR|1|P-1^SAMPLE|F-1^SAMPLE|58410-2^CBC^LN|||20260101113000+0000|||||||||||||||20260101115500+0000|||F',
        'OBX|1|NM|718-7^Hemoglobin^LN||7.2|g/dL^^UCUM|12.0-16.0|L|||F|||20260101113000+0000',
        'OBX|2|NM|777-3^Platelets^LN||250|10*3/uL^^UCUM|150-400|N|||F|||20260101113000+0000',
      ),
    },
    {
      name: 'adt-a40',
      title: 'ADT^A40: two patients are merged',
      text: lines(msh('ADT^A40^ADT_A39', 'SAMPLE-3'), 'EVN|A40|20260101120000+0000', PID, 'MRG|SAMPLE-2^^^SAMPLE^MR'),
    },
    {
      name: 'no-patient',
      title: 'Faulty: no patient number (PID-3)',
      text: lines(
        msh('ADT^A04^ADT_A01', 'SAMPLE-4'),
        'EVN|A04|20260101120000+0000',
        'PID|1||||Sample^Ada||31.12.1970|F',
      ),
    },
    {
      name: 'bad-result',
      title: 'Faulty: a result without its code, and an invalid number',
      text: lines(
        msh('ORU^R01^ORU_R01', 'SAMPLE-5'),
        PID,
        'OBR|1|P-2^SAMPLE|F-2^SAMPLE|58410-2^CBC^LN|||20260101113000+0000|||||||||||||||20260101115500+0000|||F',
        'OBX|1|NM|||seven|g/dL^^UCUM||||||F',
      ),
    },
    {
      name: 'unsupported',
      title: 'Faulty: a type that is not supported (SIU)',
      text: lines(msh('SIU^S12^SIU_S12', 'SAMPLE-6'), 'SCH|1', PID),
    },
  ],
  resource: [
    { name: 'patient', title: 'Patient', text: json(patient) },
    { name: 'observation', title: 'Observation', text: json(observation) },
    {
      name: 'bad-patient',
      title: 'Faulty Patient: gender F, a German date, an element that R4 does not know',
      text: json({ ...patient, gender: 'F', birthDate: '31.12.1970', nickname: 'Ada' }),
    },
    {
      name: 'bad-observation',
      title: 'Faulty Observation: no status, a value as text',
      text: json({ ...observation, status: undefined, valueQuantity: { value: '7,2', unit: 'g/dL' } }),
    },
  ],
};
