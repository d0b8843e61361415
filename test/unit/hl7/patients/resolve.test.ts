import { describe, expect, test } from 'vitest';

import { aliasKey } from '../../../../edge/hl7/mapping/assigning-authority.ts';
import { isBareName } from '../../../../edge/store/patient-identity.ts';
import type { Person } from '../../../../edge/hl7/patients/person.ts';
import type {
  StoredPatient,
  StoredIdentifier,
  SentIdentifier,
} from '../../../../edge/hl7/patients/identifier-holders.ts';
import type { ResolveRequest } from '../../../../edge/hl7/patients/resolve-request.ts';
import { resolve } from '../../../../edge/hl7/patients/resolve.ts';

const ANN: Person = {
  names: [{ family: 'Smith', given: 'Ann', text: undefined }],
  birthDate: '1980-02-03',
  sex: 'female',
};
const BOB: Person = {
  names: [{ family: 'Jones', given: 'Bob', text: undefined }],
  birthDate: '1960-05-06',
  sex: 'male',
};
const BARE: Person = { names: [], birthDate: undefined, sex: undefined };

const HOSP = 'name:HOSP';
const OID = 'urn:oid:1.2';
let place = 0;
const number = (
  value: string,
  authority = HOSP,
  more: Partial<SentIdentifier> & { isAssumed?: boolean } = {},
): SentIdentifier => ({
  value,
  authority: { id: authority, ids: [authority], isAssumed: more.isAssumed ?? false },
  identifies: more.identifies ?? true,
  type: 'MR',
  at: `PID^1^3^${(place += 1)}`,
});
const storedOf = (
  patient: string,
  value: string,
  authority = HOSP,
  more: Partial<StoredIdentifier> = {},
): StoredIdentifier => ({
  patient,
  value,
  authority,
  identifies: true,
  led: true,
  isAssumed: false,
  ...more,
});
const patients = (
  of: Readonly<Record<string, Person>>,
  merged: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, StoredPatient> =>
  new Map(
    Object.entries(of).map(([id, person]) => [
      id,
      {
        id,
        survivor: merged[id] ?? id,
        identifiers: [],
        mergedWith: [],
        person: { ...person, said: [], isDescribed: true },
      },
    ]),
  );
const request = (more: Partial<ResolveRequest>): ResolveRequest => ({
  identifiers: [number('1')],
  person: ANN,
  stored: [],
  patients: new Map(),
  isAdmission: true,
  check: 'refuse-results',
  placeholderDates: new Set(),
  namedUris: new Set(),
  rejected: new Set(),
  today: '2026-01-02',
  ...more,
});
const reasons = (resolution: ReturnType<typeof resolve>) =>
  resolution.findings.map(({ severity, reason }) => `${severity} ${reason}`);

describe('the leading number', () => {
  test('matches its patient', () => {
    expect(resolve(request({ stored: [storedOf('a', '1')], patients: patients({ a: ANN }) }))).toMatchObject({
      kind: 'known',
      patient: 'a',
      findings: [],
    });
  });

  test('does not match an account number with the same digits', () => {
    const account = [storedOf('a', '1', HOSP, { identifies: false })];
    expect(resolve(request({ stored: account, patients: patients({ a: ANN }) }))).toMatchObject({
      kind: 'new',
      moved: [],
    });
  });

  test('does not match a number of another authority', () => {
    expect(
      resolve(request({ stored: [storedOf('a', '1', 'name:OTHER')], patients: patients({ a: ANN }) })),
    ).toMatchObject({
      kind: 'new',
      duplicates: [],
    });
  });

  test('matches a number that is stored under a name of the URI', () => {
    const sent = { ...number('1', OID), authority: { id: OID, ids: [OID, HOSP], isAssumed: false } };
    expect(
      resolve(request({ identifiers: [sent], stored: [storedOf('a', '1')], patients: patients({ a: ANN }) })),
    ).toMatchObject({
      patient: 'a',
    });
  });

  test('matches the survivor of a merged patient, and names the merged patient', () => {
    expect(
      resolve(request({ stored: [storedOf('old', '1')], patients: patients({ old: ANN, new: ANN }, { old: 'new' }) })),
    ).toMatchObject({
      kind: 'known',
      patient: 'new',
      oldRecord: 'old',
    });
  });

  test('that is only listed with a patient matches the patient if the person agrees', () => {
    const listed = [storedOf('a', '1', HOSP, { led: false })];
    expect(resolve(request({ stored: listed, patients: patients({ a: ANN }) }))).toMatchObject({
      kind: 'known',
      patient: 'a',
      moved: [],
    });
    const other = resolve(request({ stored: listed, patients: patients({ a: BOB }) }));
    expect(other).toMatchObject({ kind: 'new', duplicates: ['a'], moved: [{ patient: 'a', value: '1' }] });
    expect(reasons(other)).toEqual(['W possible-duplicate']);
  });

  test('matches the only patient that agrees of several FHIR patients; else the message is rejected', () => {
    const both = [storedOf('a', '1'), storedOf('b', '1')];
    const one = resolve(request({ stored: both, patients: patients({ a: ANN, b: BOB }) }));
    expect(one).toMatchObject({ kind: 'known', patient: 'a', duplicates: ['b'] });
    expect(reasons(one)).toEqual(['W number-of-several']);
    expect(reasons(resolve(request({ stored: both, patients: patients({ a: ANN, b: ANN }) })))).toEqual([
      'E ambiguous-patient',
    ]);
    expect(reasons(resolve(request({ stored: both, patients: patients({ a: BOB, b: BOB }) })))).toEqual([
      'E ambiguous-patient',
    ]);
  });
});

describe('later numbers', () => {
  test('match a patient that agrees when the laboratory sent first', () => {
    const identifiers = [number('M'), number('E', 'name:EPI')];
    const stored = [storedOf('a', 'E', 'name:EPI')];
    expect(resolve(request({ identifiers, stored: stored, patients: patients({ a: ANN }) }))).toMatchObject({
      kind: 'known',
      patient: 'a',
    });
    const other = resolve(request({ identifiers, stored: stored, patients: patients({ a: BOB }) }));
    expect(other).toMatchObject({ kind: 'new', duplicates: ['a'] });
    expect(other.kind === 'new' && [...other.foreign]).toEqual([identifiers[1]]);
    // The leading number moves from where it was only listed: no other patient leads with it.
    const listed = [...stored, storedOf('b', 'M', HOSP, { led: false })];
    const moved = resolve(request({ identifiers, stored: listed, patients: patients({ a: ANN, b: BOB }) }));
    expect(moved).toMatchObject({ patient: 'a', moved: [{ patient: 'b' }], duplicates: ['b'] });
    expect(moved.kind === 'known' && [...moved.foreign]).toEqual([]);
    expect(reasons(other)).toEqual(['W identifiers-of-several']);
  });

  test('numbers of another patient are not copied', () => {
    const identifiers = [number('1'), number('2')];
    const both = resolve(
      request({
        identifiers,
        stored: [storedOf('a', '1'), storedOf('b', '2')],
        patients: patients({ a: ANN, b: BOB }),
      }),
    );
    expect(both).toMatchObject({ kind: 'known', patient: 'a', duplicates: ['b'] });
    expect(both.kind === 'known' && [...both.foreign]).toEqual([identifiers[1]]);
    expect(reasons(both)).toEqual(['W identifiers-of-several']);
  });
});

describe('an uncertain authority', () => {
  test.each([
    ['the message assumes it', number('1', 'name:A', { isAssumed: true }), storedOf('a', '1', 'name:B')],
    ['the patient record assumed it', number('1', 'name:A'), storedOf('a', '1', 'name:B', { isAssumed: true })],
    ['a bare name against a URI without a name', number('1', HOSP), storedOf('a', '1', OID)],
    ['a URI against a bare name', number('1', OID), storedOf('a', '1', HOSP)],
    ['a FHIR identifier without a system', number('1', HOSP), storedOf('a', '1', 'name:', { isAssumed: true })],
  ])('%s: matches the patient if the person agrees', (_what, sent, stored) => {
    const same = resolve(request({ identifiers: [sent], stored: [stored], patients: patients({ a: ANN }) }));
    expect(same).toMatchObject({ kind: 'known', patient: 'a' });
    expect(reasons(same)).toEqual(['W authority-assumed']);
    const other = resolve(request({ identifiers: [sent], stored: [stored], patients: patients({ a: BOB }) }));
    expect(other).toMatchObject({ kind: 'new', duplicates: ['a'] });
    expect(reasons(other)).toEqual(['W possible-duplicate']);
    const bare = resolve(
      request({ identifiers: [sent], stored: [stored], patients: patients({ a: ANN }), person: BARE }),
    );
    expect(bare).toMatchObject({ kind: 'new', duplicates: ['a'] });
  });

  test('a bare name does not match a URI with a different name', () => {
    const sent = request({
      identifiers: [number('1')],
      stored: [storedOf('a', '1', OID)],
      patients: patients({ a: ANN }),
      namedUris: new Set([OID]),
    });
    expect(resolve(sent)).toMatchObject({ kind: 'new', duplicates: [] });
    expect(isBareName(HOSP)).toBe(true);
  });

  test('a bare name does not match a URI that an administrator rejected for it', () => {
    const rejected = new Set([aliasKey({ namespace: 'HOSP', uri: OID })]);
    const stored = { stored: [storedOf('a', '1', OID)], patients: patients({ a: ANN }) };
    expect(resolve(request({ ...stored, rejected }))).toMatchObject({ kind: 'new', duplicates: [], proposed: [] });
    const turned = { identifiers: [number('1', OID)], stored: [storedOf('a', '1')], patients: patients({ a: ANN }) };
    expect(resolve(request({ ...turned, rejected }))).toMatchObject({ kind: 'new', duplicates: [] });
    expect(resolve(request(turned))).toMatchObject({ kind: 'known', patient: 'a' });
  });

  test('an initial is enough only for the leading number', () => {
    const initial = { ...ANN, names: [{ family: 'Smith', given: 'A', text: undefined }] };
    const elsewhere = { person: initial, stored: [storedOf('a', '1', OID)], patients: patients({ a: ANN }) };
    expect(resolve(request({ ...elsewhere, identifiers: [number('1')] }))).toMatchObject({
      kind: 'known',
      patient: 'a',
    });
    expect(resolve(request({ ...elsewhere, identifiers: [number('2'), number('1')] }))).toMatchObject({ kind: 'new' });
    const listed = { ...elsewhere, stored: [storedOf('a', '1', HOSP, { led: false })] };
    for (const identifiers of [[number('1')], [number('2'), number('1')]])
      expect(resolve(request({ ...listed, identifiers }))).toMatchObject({ kind: 'new', duplicates: ['a'] });
  });

  test('a number of a later repetition counts as well', () => {
    const identifiers = [number('L', 'name:LAB'), number('1', HOSP)];
    const resolution = resolve(
      request({ identifiers, stored: [storedOf('a', '1', OID)], patients: patients({ a: ANN }) }),
    );
    expect(resolution).toMatchObject({ kind: 'known', patient: 'a', proposed: [{ namespace: 'HOSP', uri: OID }] });
  });

  test('two patients that agree are possible duplicates of a new patient', () => {
    const stored = [storedOf('a', '1', 'name:A'), storedOf('b', '1', 'name:B')];
    const sent = number('1', 'name:C', { isAssumed: true });
    expect(
      resolve(request({ identifiers: [sent], stored: stored, patients: patients({ a: ANN, b: ANN }) })),
    ).toMatchObject({
      kind: 'new',
      duplicates: ['a', 'b'],
    });
  });

  test('an authority assumed on one side does not match a person who contradicts', () => {
    const sent = number('1', HOSP, { isAssumed: true });
    const stored = [storedOf('a', '1')];
    expect(resolve(request({ identifiers: [sent], stored: stored, patients: patients({ a: BOB }) }))).toMatchObject({
      kind: 'new',
      duplicates: ['a'],
    });
    expect(
      resolve(request({ identifiers: [sent], stored: stored, patients: patients({ a: BOB }), person: BARE })),
    ).toMatchObject({ patient: 'a' });
  });
});

describe('numbers whose type does not identify a patient', () => {
  const ssn = number('123-45-6788', 'name:SSA', { identifies: false });
  const stored = [storedOf('a', '123-45-6788', 'name:SSA', { identifies: false })];

  test('match a patient that agrees', () => {
    expect(resolve(request({ identifiers: [ssn], stored: stored, patients: patients({ a: ANN }) }))).toMatchObject({
      kind: 'known',
      patient: 'a',
    });
  });

  test('without a match, create a patient for an admission and reject a result', () => {
    const admission = request({ identifiers: [ssn], stored: stored, patients: patients({ a: BOB }) });
    expect(resolve(admission)).toMatchObject({ kind: 'new', duplicates: [] });
    expect(reasons(resolve({ ...admission, isAdmission: false }))).toEqual(['E no-identifying-number']);
  });

  test('are rejected when several patients agree, instead of a new patient for each message', () => {
    const both = [...stored, storedOf('b', '123-45-6788', 'name:SSA', { identifies: false })];
    expect(
      reasons(resolve(request({ identifiers: [ssn], stored: both, patients: patients({ a: ANN, b: ANN }) }))),
    ).toEqual(['E ambiguous-patient']);
  });

  test('do not match a patient beside a number that identifies', () => {
    expect(
      resolve(request({ identifiers: [ssn, number('1')], stored: stored, patients: patients({ a: ANN }) })),
    ).toMatchObject({
      kind: 'new',
    });
  });
});

describe('a person who contradicts the matching patient', () => {
  const differs = request({ person: BOB, stored: [storedOf('a', '1')], patients: patients({ a: ANN }) });

  test.each([
    [true, 'refuse-results', 'known', 'W patient-differs'],
    [false, 'refuse-results', 'refused', 'E patient-differs'],
    [false, 'warn', 'known', 'W patient-differs'],
    [true, 'refuse', 'refused', 'E patient-differs'],
  ] as const)('admission %s, check %s: %s', (isAdmission, check, kind, reason) => {
    const judged = resolve({ ...differs, isAdmission, check });
    expect(judged.kind).toBe(kind);
    expect(reasons(judged)).toEqual([reason]);
  });

  test('a doubtful difference is reported and never rejected', () => {
    const renamed = { ...ANN, names: BOB.names };
    for (const isAdmission of [true, false]) {
      const judged = resolve({ ...differs, person: renamed, isAdmission, check: 'refuse' });
      expect(judged).toMatchObject({ kind: 'known', patient: 'a' });
      expect(reasons(judged)).toEqual(['W patient-differs']);
    }
    const merged = patients({ old: ANN, new: ANN }, { old: 'new' });
    const late = resolve({ ...differs, person: renamed, stored: [storedOf('old', '1')], patients: merged });
    expect(late).toMatchObject({ patient: 'new', oldRecord: 'old' });
  });

  test('a result with an old number matches the survivor by the data of the merged patient', () => {
    const old: Partial<ResolveRequest> = { stored: [storedOf('old', '1')], isAdmission: false };
    const said = BOB.names.map((name) => ({ name, birthDate: BOB.birthDate }));
    const survivor = { ...ANN, said, isDescribed: true };
    const merged = patients({ old: BOB, new: ANN }, { old: 'new' });
    const remembered = new Map([
      ...merged,
      ['new', { id: 'new', survivor: 'new', identifiers: [], mergedWith: [], person: survivor }],
    ]);
    expect(resolve({ ...differs, ...old, patients: remembered })).toMatchObject({ patient: 'new', findings: [] });
    expect(reasons(resolve({ ...differs, ...old, patients: merged }))).toEqual(['E patient-differs']);
  });

  test('an old number of a person who contradicts the survivor identifies a new patient', () => {
    const merged = patients({ old: ANN, new: ANN }, { old: 'new' });
    const reused = resolve({ ...differs, stored: [storedOf('old', '1')], patients: merged });
    expect(reused).toMatchObject({ kind: 'new', duplicates: ['new'] });
    expect(reused.kind === 'new' && reused.moved.map(({ patient }) => patient)).toEqual(['new', 'old']);
    expect(reasons(reused)).toEqual(['W number-reassigned']);
  });
});
