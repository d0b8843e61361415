import { describe, expect, test } from 'vitest';

import { assigningAuthorityOf, taughtBy, type Authorities } from '../../../../edge/hl7/mapping/assigning-authority.ts';
import { domainOfStored } from '../../../../edge/store/patient-identity.ts';

const OID = 'urn:oid:1.2.3.4';
const none = { namespace: undefined, universalId: undefined };
const NOBODY: Authorities = {
  named: new Map(),
  taught: new Map(),
  rejected: new Set(),
  assumed: { namespace: 'FAC', universalId: undefined },
};
const named = (namespace: string | undefined, universalId?: string) => ({ namespace, universalId });

describe('the domain of a CX', () => {
  test.each([
    ['an OID', named('HOSP', '1.2.3.4'), none, NOBODY, OID, false],
    ['an OID in the place of the name', named('1.2.3.4'), none, NOBODY, OID, false],
    [
      'a UUID, in small letters',
      named(undefined, 'A0000000-0000-4000-8000-00000000000B'),
      none,
      NOBODY,
      'urn:uuid:a0000000-0000-4000-8000-00000000000b',
      false,
    ],
    ['a URI', named(undefined, 'http://hosp.example/mrn'), none, NOBODY, 'http://hosp.example/mrn', false],
    ['a name with a colon', named('lab:east'), none, NOBODY, 'name:LAB:EAST', false],
    ['a namespace', named('Hosp '), none, NOBODY, 'name:HOSP', false],
    ['a domain name is one more name', named(undefined, 'hosp.example'), none, NOBODY, 'name:HOSP.EXAMPLE', false],
    [
      'a namespace that the site named',
      named('hosp'),
      none,
      { ...NOBODY, named: new Map([['HOSP', OID]]) },
      OID,
      false,
    ],
    [
      'a namespace that this key was taught',
      named('hosp'),
      none,
      { ...NOBODY, taught: new Map([['HOSP', OID]]) },
      OID,
      false,
    ],
    [
      'the site wins over what was taught',
      named('hosp'),
      none,
      {
        named: new Map([['HOSP', 'urn:a']]),
        taught: new Map([['HOSP', OID]]),
        rejected: new Set<string>(),
        assumed: none,
      },
      'urn:a',
      false,
    ],
    ['the assigning facility, CX.6', none, named('EAST'), NOBODY, 'name:EAST', false],
    ['nothing: what is assumed', none, none, NOBODY, 'name:FAC', true],
    ['nothing: what is assumed may have a URI', none, none, { ...NOBODY, named: new Map([['FAC', OID]]) }, OID, true],
  ] as const)('%s', (_what, authority, facility, authorities, id, isAssumed) => {
    expect(assigningAuthorityOf(authority, facility, authorities)).toMatchObject({ id, isAssumed });
  });

  test('a URI is looked for under the names that stand for it as well', () => {
    const authorities = {
      named: new Map([['HOSP', OID]]),
      taught: new Map([['H', OID]]),
      rejected: new Set<string>(),
      assumed: none,
    };
    expect(assigningAuthorityOf(named(undefined, '1.2.3.4'), none, authorities).ids.toSorted()).toEqual([
      'name:H',
      'name:HOSP',
      OID,
    ]);
  });

  test('a namespace that the site gave another URI does not replace the URI that a message taught', () => {
    const authorities = {
      named: new Map([['HOSP', 'urn:a']]),
      taught: new Map([['HOSP', OID]]),
      rejected: new Set<string>(),
      assumed: none,
    };
    expect(assigningAuthorityOf(named('HOSP', '1.2.3.4'), none, authorities).ids).toEqual([OID]);
  });

  test('a facility that has a universal id is assumed by it', () => {
    expect(assigningAuthorityOf(none, none, { ...NOBODY, assumed: named('FAC', '1.2.3.4') })).toMatchObject({
      id: OID,
    });
  });

  test('both components together teach an alias; an OID twice, or one of them, teaches nothing', () => {
    expect(taughtBy(named('Hosp', '1.2.3.4'))).toEqual({ namespace: 'HOSP', uri: OID });
    expect([
      taughtBy(named('HOSP')),
      taughtBy(named(undefined, '1.2.3.4')),
      taughtBy(named('1.2.3.4', '1.2.3.4')),
    ]).toEqual([undefined, undefined, undefined]);
  });

  test('a FHIR identifier has the domain of its system, else of its assigner, else an unknown one', () => {
    expect([
      domainOfStored(OID, 'HOSP'),
      domainOfStored(undefined, 'hosp'),
      domainOfStored(undefined, undefined),
    ]).toEqual([OID, 'name:HOSP', 'name:']);
  });
});
