import { describe, expect, test } from 'vitest';

import { assigningAuthorityOf, taughtBy, type Authorities } from '../../../../edge/hl7/mapping/assigning-authority.ts';
import { storedAuthority } from '../../../../edge/store/patient-identity.ts';

const OID = 'urn:oid:1.2.3.4';
const none = { namespace: undefined, universalId: undefined };
const NO_NAMES: Authorities = {
  named: new Map(),
  taught: new Map(),
  contested: new Map(),
  shared: new Map(),
  rejected: new Set(),
  assumed: { namespace: 'FAC', universalId: undefined },
};
const named = (namespace: string | undefined, universalId?: string) => ({ namespace, universalId });

describe('the assigning authority of a CX', () => {
  test.each([
    ['an OID', named('HOSP', '1.2.3.4'), none, NO_NAMES, OID, false],
    ['an OID in the place of the name', named('1.2.3.4'), none, NO_NAMES, OID, false],
    [
      'a UUID, in small letters',
      named(undefined, 'A0000000-0000-4000-8000-00000000000B'),
      none,
      NO_NAMES,
      'urn:uuid:a0000000-0000-4000-8000-00000000000b',
      false,
    ],
    ['a URI', named(undefined, 'http://hosp.example/mrn'), none, NO_NAMES, 'http://hosp.example/mrn', false],
    ['a name with a colon', named('lab:east'), none, NO_NAMES, 'name:LAB:EAST', false],
    ['a namespace', named('Hosp '), none, NO_NAMES, 'name:HOSP', false],
    ['a domain name is a name', named(undefined, 'hosp.example'), none, NO_NAMES, 'name:HOSP.EXAMPLE', false],
    [
      'a namespace that the site named',
      named('hosp'),
      none,
      { ...NO_NAMES, named: new Map([['HOSP', OID]]) },
      OID,
      false,
    ],
    [
      'a namespace that this key was taught',
      named('hosp'),
      none,
      { ...NO_NAMES, taught: new Map([['HOSP', OID]]) },
      OID,
      false,
    ],
    [
      'the site wins over what was taught',
      named('hosp'),
      none,
      { ...NO_NAMES, named: new Map([['HOSP', 'urn:a']]), taught: new Map([['HOSP', OID]]), assumed: none },
      'urn:a',
      false,
    ],
    ['the assigning facility, CX.6', none, named('EAST'), NO_NAMES, 'name:EAST', false],
    ['nothing: the assumed authority', none, none, NO_NAMES, 'name:FAC', true],
    [
      'nothing: the assumed authority may have a URI',
      none,
      none,
      { ...NO_NAMES, named: new Map([['FAC', OID]]) },
      OID,
      true,
    ],
  ] as const)('%s', (_what, authority, facility, authorities, id, isAssumed) => {
    expect(assigningAuthorityOf(authority, facility, authorities)).toMatchObject({ id, isAssumed });
  });

  test('the search for a URI includes its names', () => {
    const authorities = { ...NO_NAMES, named: new Map([['HOSP', OID]]), taught: new Map([['H', OID]]), assumed: none };
    expect(assigningAuthorityOf(named(undefined, '1.2.3.4'), none, authorities).ids.toSorted()).toEqual([
      'name:H',
      'name:HOSP',
      OID,
    ]);
  });

  test('a namespace with another URI in the site’s names does not replace the URI of the message', () => {
    const authorities = {
      ...NO_NAMES,
      named: new Map([['HOSP', 'urn:a']]),
      taught: new Map([['HOSP', OID]]),
      assumed: none,
    };
    expect(assigningAuthorityOf(named('HOSP', '1.2.3.4'), none, authorities).ids).toEqual([OID]);
  });

  test('an assumed facility with a universal id has its URI', () => {
    expect(assigningAuthorityOf(none, none, { ...NO_NAMES, assumed: named('FAC', '1.2.3.4') })).toMatchObject({
      id: OID,
    });
  });

  test('a namespace beside an OID gives an alias; an OID twice or one component alone does not', () => {
    expect(taughtBy(named('Hosp', '1.2.3.4'))).toEqual({ namespace: 'HOSP', uri: OID });
    expect([
      taughtBy(named('HOSP')),
      taughtBy(named(undefined, '1.2.3.4')),
      taughtBy(named('1.2.3.4', '1.2.3.4')),
    ]).toEqual([undefined, undefined, undefined]);
  });

  test('a FHIR identifier has the authority of its system, else of its assigner, else an unknown one', () => {
    expect([
      storedAuthority(OID, 'HOSP'),
      storedAuthority(undefined, 'hosp'),
      storedAuthority(undefined, undefined),
    ]).toEqual([OID, 'name:HOSP', 'name:']);
  });
});
