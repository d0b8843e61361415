/** The key of a message: the precedence as a table, the refusals as their administrators read them, a slow twin. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { selectKey, type MllpKey, type MllpPeer } from '../../../../../edge/hl7/ingest/sender/select-key.ts';
import { inputs } from '../../../../stack/tools/size.ts';

interface KeyOptions {
  readonly id?: string;
  readonly site?: string;
  readonly status?: 'active' | 'disabled';
  readonly protocols?: readonly string[];
  readonly application?: string;
  readonly facility?: string;
  readonly tlsSubject?: string;
  readonly isOwn?: boolean;
  readonly isForeign?: boolean;
}

/** A key of site A named `k`, for MLLP and active, unless the options differ. */
const key = (ips: string, options: KeyOptions = {}): MllpKey => ({
  clientId: options.id ?? 'k',
  site: options.site ?? 'A',
  status: options.status ?? 'active',
  protocols: options.protocols ?? ['hl7-mllp'],
  allowedIps: ips === '' ? [] : ips.split(','),
  senderApplication: options.application ?? null,
  senderFacility: options.facility ?? null,
  tlsSubject: options.tlsSubject ?? null,
  isOwn: options.isOwn ?? true,
  isForeign: options.isForeign ?? false,
});

const peer = (address: string, sendingApplication = 'APP', sendingFacility = 'FAC', tlsSubject = ''): MllpPeer => ({
  address,
  sendingApplication,
  sendingFacility,
  tlsSubject,
});

/** The key's id, or the kind of refusal. */
const chosen = (keys: readonly MllpKey[], from: MllpPeer): string => {
  const selected = selectKey(keys, from);
  return 'key' in selected ? selected.key.clientId : selected.refused;
};

const HOME = peer('192.0.2.10');

describe('Allowed IPs', () => {
  test.each<[ips: string, address: string, expected: string]>([
    ['192.0.2.10', '192.0.2.10', 'k'],
    ['192.0.2.10', '192.0.2.11', 'no-key'],
    ['192.0.2.10', '::ffff:192.0.2.10', 'k'],
    ['192.0.2.10', '::ffff:c000:20a', 'k'],
    ['192.0.2.10', '::192.0.2.10', 'no-key'],
    ['::ffff:192.0.2.10', '192.0.2.10', 'k'],
    ['192.0.2.0/24', '192.0.2.0', 'k'],
    ['192.0.2.0/24', '192.0.2.255', 'k'],
    ['192.0.2.0/24', '192.0.3.0', 'no-key'],
    ['192.0.2.77/24', '192.0.2.10', 'k'],
    ['192.0.2.8/29', '192.0.2.15', 'k'],
    ['192.0.2.8/29', '192.0.2.16', 'no-key'],
    ['192.0.2.10/31', '192.0.2.11', 'k'],
    ['192.0.2.10/31', '192.0.2.12', 'no-key'],
    ['192.0.2.10/32', '192.0.2.10', 'k'],
    ['192.0.2.10/32', '192.0.2.11', 'no-key'],
    ['0.0.0.0/0', '203.0.113.9', 'k'],
    ['0.0.0.0/0', '2001:db8::1', 'no-key'],
    ['::ffff:192.0.2.0/120', '192.0.2.99', 'k'],
    ['::/0', '192.0.2.10', 'k'],
    ['::/0', '2001:db8::1', 'k'],
    ['*', '192.0.2.10', 'k'],
    ['*', '2001:db8::1', 'k'],
    ['2001:db8::1', '2001:db8:0:0:0:0:0:1', 'k'],
    ['2001:DB8::1', '2001:db8::0001', 'k'],
    ['2001:db8::1', '2001:db8::2', 'no-key'],
    ['2001:db8::/32', '2001:db8:ffff::1', 'k'],
    ['2001:db8::/32', '2001:db9::1', 'no-key'],
    ['2001:db8::/33', '2001:db8:7fff::1', 'k'],
    ['2001:db8::/33', '2001:db8:8000::1', 'no-key'],
    ['::1', '::1', 'k'],
    ['::1', '127.0.0.1', 'no-key'],
    ['127.0.0.1,::1', '::1', 'k'],
    ['10.0.0.0/8,192.0.2.10', '192.0.2.10', 'k'],
    ['10.0.0.0/8,192.0.2.10', '11.0.0.1', 'no-key'],
    ['', '192.0.2.10', 'no-key'],
    ['192.0.2.256', '192.0.2.10', 'no-key'],
    ['192.0.2.10/33', '192.0.2.10', 'no-key'],
    ['192.0.2', '192.0.2.10', 'no-key'],
    ['nonsense,192.0.2.10', '192.0.2.10', 'k'],
    ['0300.0.2.10,192.0.02.10', '192.0.2.10', 'no-key'],
    ['*', '192.0.2.10:2575', 'no-key'],
    ['*', '', 'no-key'],
    ['*', 'not an address', 'no-key'],
    ['*', 'fe80::1%eth0', 'no-key'],
  ])('Allowed IPs "%s" and source %s: %s', (ips, address, expected) => {
    expect(chosen([key(ips)], peer(address))).toBe(expected);
  });
});

describe('status, protocols and filters exclude keys', () => {
  test.each<[what: string, options: KeyOptions, from: MllpPeer, expected: string]>([
    ['disabled', { status: 'disabled' }, HOME, 'no-key'],
    ['for FHIR only', { protocols: ['fhir'] }, HOME, 'no-key'],
    ['for HL7 over HTTP only', { protocols: ['hl7'] }, HOME, 'no-key'],
    ['for nothing', { protocols: [] }, HOME, 'no-key'],
    ['for several', { protocols: ['fhir', 'hl7', 'hl7-mllp'] }, HOME, 'k'],
    ['a protocol is compared completely', { protocols: ['hl7-mllp2', 'HL7-MLLP'] }, HOME, 'no-key'],
    ['MSH-3 equals the filter', { application: 'APP' }, HOME, 'k'],
    ['MSH-3 differs', { application: 'LAB' }, HOME, 'no-key'],
    ['MSH-3 differs in case', { application: 'app' }, HOME, 'no-key'],
    ['MSH-3 only begins with the filter', { application: 'AP' }, HOME, 'no-key'],
    ['MSH-3 empty', { application: 'APP' }, peer('192.0.2.10', ''), 'no-key'],
    ['MSH-4 equals the filter', { facility: 'FAC' }, HOME, 'k'],
    ['MSH-4 differs', { facility: 'EAST' }, HOME, 'no-key'],
    ['MSH-4 empty', { facility: 'FAC' }, peer('192.0.2.10', 'APP', ''), 'no-key'],
    ['both equal their filters', { application: 'APP', facility: 'FAC' }, HOME, 'k'],
    ['only MSH-3 equals its filter', { application: 'APP', facility: 'EAST' }, HOME, 'no-key'],
    ['only MSH-4 equals its filter', { application: 'LAB', facility: 'FAC' }, HOME, 'no-key'],
    ['a name with pattern characters is plain', { application: 'A*' }, HOME, 'no-key'],
    ['an empty filter is a filter', { application: '' }, HOME, 'no-key'],
    ['an empty filter and an empty MSH-3', { application: '' }, peer('192.0.2.10', ''), 'k'],
    [
      'the certificate subject equals the filter',
      { tlsSubject: 'CN=lab' },
      peer('192.0.2.10', 'APP', 'FAC', 'CN=lab'),
      'k',
    ],
    ['another certificate', { tlsSubject: 'CN=lab' }, peer('192.0.2.10', 'APP', 'FAC', 'CN=lab2'), 'no-key'],
    ['no certificate', { tlsSubject: 'CN=lab' }, HOME, 'no-key'],
    ['of another site', { isOwn: false, isForeign: true }, HOME, 'no-key'],
    ['of an address that no site owns', { isOwn: false }, HOME, 'no-key'],
    ['MSH-3 and MSH-4 are swapped', { application: 'FAC', facility: 'APP' }, HOME, 'no-key'],
    ['neither set, both empty in the message', {}, peer('192.0.2.10', '', ''), 'k'],
    ['equal filters do not replace an allowed address', { application: 'APP' }, peer('192.0.2.99'), 'no-key'],
  ])('%s', (_, options, from, expected) => {
    expect(chosen([key('192.0.2.10', options)], from)).toBe(expected);
  });
});

describe('the most specific of several', () => {
  test.each<[what: string, given: Readonly<Record<string, string | [ips: string, KeyOptions]>>, expected: string]>([
    ['one address beats a range', { a: '192.0.2.0/24', b: '192.0.2.10' }, 'b'],
    ['a longer prefix beats a shorter', { a: '192.0.2.0/25', b: '192.0.2.0/24' }, 'a'],
    ['a range beats any', { a: '*', b: '192.0.0.0/8' }, 'b'],
    ['0.0.0.0/0 beats any', { a: '*', b: '0.0.0.0/0' }, 'b'],
    ['precedence does not decide between sites', { a: '*', b: ['192.0.2.10', { site: 'B' }] }, 'ambiguous'],
    ['a filter outranks no other site', { a: '192.0.2.10', b: ['*', { site: 'B', application: 'APP' }] }, 'ambiguous'],
    [
      'the ranges of other sites do not count',
      { a: '192.0.2.10', b: ['*', { site: 'B', application: 'APP', isOwn: false }] },
      'a',
    ],
    ['a certificate is a filter like the others', { a: '192.0.2.10', b: ['*', { tlsSubject: '' }] }, 'b'],
    ['the longest matching range of a key counts', { a: '*,192.0.2.10', b: '192.0.2.0/24' }, 'a'],
    ['a range that does not hold the address does not count', { a: '*,198.51.100.1', b: '192.0.2.0/24' }, 'b'],
    ['a filter beats none', { a: '192.0.2.10', b: ['*', { application: 'APP' }] }, 'b'],
    [
      'two filters beat one',
      { a: ['192.0.2.10', { application: 'APP' }], b: ['*', { application: 'APP', facility: 'FAC' }] },
      'b',
    ],
    [
      'with as many filters the prefix decides',
      { a: ['192.0.2.0/24', { application: 'APP' }], b: ['192.0.2.10', { facility: 'FAC' }] },
      'b',
    ],
    [
      'MSH-3 and MSH-4 weigh the same: of two sites, refused',
      { a: ['*', { application: 'APP' }], b: ['*', { site: 'B', facility: 'FAC' }] },
      'ambiguous',
    ],
    ['equal, of two sites', { a: '*', b: ['*', { site: 'B' }] }, 'ambiguous'],
    ['equal in two spellings', { a: '192.0.2.10', b: ['::ffff:192.0.2.10/128', { site: 'B' }] }, 'ambiguous'],
    ['equal, of one site: the first by Client ID', { b: '*', a: '*' }, 'a'],
    [
      'equal but less specific than a third: of another site all the same',
      { a: '*', b: ['*', { site: 'B' }], c: '192.0.2.10' },
      'ambiguous',
    ],
    ['equal, but one is disabled', { a: '*', b: ['*', { site: 'B', status: 'disabled' }] }, 'a'],
    ['equal, but one is for FHIR', { a: '*', b: ['*', { site: 'B', protocols: ['fhir'] }] }, 'a'],
    ['the more specific is disabled: the other serves', { a: ['192.0.2.10', { status: 'disabled' }], b: '*' }, 'b'],
    ['no key at all', {}, 'no-key'],
  ])('%s', (_, given, expected) => {
    const keys = Object.entries(given).map(([id, each]) =>
      typeof each === 'string' ? key(each, { id }) : key(each[0], { id, ...each[1] }),
    );
    expect(chosen(keys, HOME)).toBe(expected);
    expect(chosen(keys.toReversed(), HOME)).toBe(expected);
  });
});

describe('the refusals in the log of the administrators', () => {
  const explain = (keys: readonly MllpKey[], from = HOME): string[] => {
    const selected = selectKey(keys, from);
    return 'key' in selected ? [] : selected.explainTo.map(({ clientId, reason }) => `${clientId}: ${reason}`);
  };

  test('lists every condition that failed, for each key that the message concerns', () => {
    expect(
      explain([
        key('192.0.2.10', { id: 'lab', application: 'LAB', facility: 'EAST' }),
        key('192.0.2.10', { id: 'off', status: 'disabled' }),
        key('192.0.2.10', { id: 'http', protocols: ['hl7'] }),
        key('10.0.0.1', { id: 'named', application: 'APP' }),
      ]),
    ).toEqual([
      'lab: MSH-3 was "APP", the key wants "LAB"; MSH-4 was "FAC", the key wants "EAST"',
      'off: the API key is disabled',
      'http: Protocols does not list hl7-mllp',
      'named: the source address 192.0.2.10 is not in Allowed IPs',
    ]);
  });

  test('omits a key that has neither the address nor a filter of the sender', () => {
    expect(
      explain([key('10.0.0.1'), key('10.0.0.1', { application: 'LAB' }), key('*', { protocols: ['fhir'] })]),
    ).toEqual([]);
  });

  test('lists all faults of one key in one sentence', () => {
    expect(explain([key('192.0.2.10', { status: 'disabled', application: 'LAB' })])).toEqual([
      'k: the API key is disabled; MSH-3 was "APP", the key wants "LAB"',
    ]);
    expect(explain([key('10.0.0.1', { protocols: ['fhir'], application: 'APP' })])).toEqual([
      'k: Protocols does not list hl7-mllp; the source address 192.0.2.10 is not in Allowed IPs',
    ]);
  });

  test('shortens the sender’s text and escapes its invisible characters', () => {
    const lab = key('*', { application: 'LAB' });
    expect(explain([lab], peer('192.0.2.10', 'A\u202eB\n'))).toEqual([
      'k: MSH-3 was "A\\u202eB\\n", the key wants "LAB"',
    ]);
    expect(explain([lab], peer('192.0.2.10', 'X'.repeat(1024 * 1024)))[0]?.length).toBeLessThan(500);
  });

  test('hides a refusal that concerns only another site, and shows an unassigned address to each site that it concerns', () => {
    expect(explain([key('*', { application: 'APP', isOwn: false, isForeign: true })])).toEqual([]);
    expect(explain([key('192.0.2.10', { isOwn: false })])).toEqual([
      'k: the operator has not assigned 192.0.2.10, or not for such messages, to this site',
    ]);
    expect(explain([key('192.0.2.10', { tlsSubject: 'CN=lab' })])).toEqual([
      'k: the certificate’s subject was "", the key wants "CN=lab"',
    ]);
  });

  test('shows an ambiguity to both sites, without the name of the other site', () => {
    const found = explain([key('*', { id: 'a' }), key('*', { id: 'b', site: 'B' }), key('10.0.0.1', { id: 'c' })]);
    expect(found).toHaveLength(2);
    expect(found[0]).toMatch(/^a: the sender at 192\.0\.2\.10 also fits a key of another site, /);
    expect(found[1]).toMatch(/^b: /);
    expect(found[0]).not.toMatch(/\bb\b|\bB\b/);
  });
});

/** The slow and obvious twin: addresses as 128 characters of 0 and 1, a filter and a sort for each rule. */
describe('any keys and any sender', () => {
  const bitsOf = (address: string): string => {
    if (address.includes('.')) {
      const octets = address.split('.').map((octet) => Number(octet).toString(2).padStart(8, '0'));
      return '0'.repeat(80) + '1'.repeat(16) + octets.join('');
    }
    const [head = '', tail = ''] = address.split('::');
    const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
    const missing = 8 - groups(head).length - groups(tail).length;
    const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)];
    return all.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')).join('');
  };

  const prefixOf = (range: string): string => {
    if (range === '*') return '';
    const [address = '', length] = range.split('/');
    const most = address.includes('.') ? 32 : 128;
    return bitsOf(address).slice(0, 128 - most + Number(length ?? most));
  };

  const twin = (keys: readonly MllpKey[], from: MllpPeer): string => {
    const bits = bitsOf(from.address);
    const weigh = ({ allowedIps, senderApplication, senderFacility }: MllpKey): number => {
      const lengths = allowedIps
        .map(prefixOf)
        .filter((prefix) => bits.startsWith(prefix))
        .map(({ length }) => length);
      const filters = [senderApplication, senderFacility].filter((filter) => filter !== null).length;
      return filters * 1000 + Math.max(...lengths);
    };
    const fitting = keys
      .filter(({ status }) => status === 'active')
      .filter(({ isOwn }) => isOwn)
      .filter(({ protocols }) => protocols.includes('hl7-mllp'))
      .filter(({ allowedIps }) => allowedIps.some((range) => bits.startsWith(prefixOf(range))))
      .filter(({ senderApplication: wanted }) => wanted === null || wanted === from.sendingApplication)
      .filter(({ senderFacility: wanted }) => wanted === null || wanted === from.sendingFacility);
    const most = Math.max(...fitting.map(weigh));
    const best = fitting.filter((each) => weigh(each) === most);
    if (best.length === 0) return 'no-key';
    if (new Set(fitting.map(({ site }) => site)).size > 1) return 'ambiguous';
    return best.map(({ clientId }) => clientId).toSorted()[0] ?? '';
  };

  // Few and close to each other, so that they overlap.
  const address = fc.constantFrom(
    '10.0.0.1',
    '10.0.0.2',
    '10.0.1.1',
    '11.0.0.1',
    '2001:db8::1',
    '2001:db8:1::1',
    '::1',
  );
  const range = fc.oneof(
    address,
    fc.constant('*'),
    fc.tuple(fc.constantFrom('10.0.0.1', '10.0.1.1'), fc.integer({ min: 0, max: 32 })).map((parts) => parts.join('/')),
    fc.tuple(fc.constantFrom('2001:db8::1', '::1'), fc.integer({ min: 0, max: 128 })).map((parts) => parts.join('/')),
  );
  const name = fc.constantFrom('APP', 'LAB');
  const anyKey = fc.record({
    site: fc.constantFrom('A', 'B'),
    status: fc.constantFrom<MllpKey['status']>('active', 'active', 'active', 'disabled'),
    protocols: fc.constantFrom(['hl7-mllp'], ['fhir', 'hl7-mllp'], ['fhir']),
    allowedIps: fc.array(range, { maxLength: 3 }),
    senderApplication: fc.option(name),
    senderFacility: fc.option(name),
    tlsSubject: fc.constant(null),
    isOwn: fc.constantFrom(true, true, true, false),
    isForeign: fc.boolean(),
  });
  const anyKeys = fc
    .array(anyKey, { maxLength: 6 })
    .map((keys) => keys.map((each, index) => ({ ...each, clientId: `svc-${index}` })));

  test('the simple implementation chooses the same key, in any order of the keys', () => {
    fc.assert(
      fc.property(anyKeys, address, name, name, (keys, from, application, facility) => {
        const sender = peer(from, application, facility);
        const expected = twin(keys, sender);
        expect(chosen(keys, sender)).toBe(expected);
        expect(chosen(keys.toReversed(), sender)).toBe(expected);
      }),
      { numRuns: inputs(5000) },
    );
  });

  test('an added filter never accepts a sender that was rejected before', () => {
    fc.assert(
      fc.property(anyKey, address, name, name, (base, from, application, facility) => {
        const sender = peer(from, application, facility);
        const plain = { ...base, clientId: 'k', senderApplication: null, senderFacility: null };
        if (chosen([{ ...base, clientId: 'k' }], sender) === 'k') expect(chosen([plain], sender)).toBe('k');
      }),
    );
  });
});
