/**
 * Texts, cultures and results with slightly different keys, in every order of arrival. The same results are live, or the
 * difference is an issue to review (edge/docs/behaviour.md, HL7 v2, Which result).
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { objectsOf } from '../../../../shared/json.ts';
import { lines, RESULT_ROWS, sensitivity, sent } from '../../../inputs/hl7-result-rows.ts';
import {
  afterResults,
  liveIn,
  objectOf,
  reportedIn,
  resultMessage,
  type SentOrder,
  type SentResults,
} from '../../../inputs/hl7-results.ts';
import { ordersOf } from '../../../stack/tools/orders.ts';
import { createWorld, type World } from '../../../inputs/hl7-world.ts';
import { sized } from '../../../stack/tools/size.ts';

test.each(RESULT_ROWS)('%s', (_, messages, live, listed) => {
  for (const order of ordersOf(messages)) {
    const { world } = afterResults(order);
    const name = order.map(({ at }) => at).join();
    expect(liveIn(world), name).toEqual([...live].toSorted());
    const kinds = [...new Set(world.attention.map(({ kind }) => kind))];
    // A correction that arrives first has nothing to correct.
    expect(
      kinds.filter((kind) => kind !== 'correction-unmatched'),
      name,
    ).toEqual(listed.filter((kind) => kind !== 'correction-unmatched'));
    expect(reportedIn(world), name).toEqual(liveIn(world));
  }
});

test('the next version of a text replaces the text and leaves its addendum', () => {
  const [first, addendum, next] = [['a', 'b', 'c', 'd', 'e'], ['Addendum'], ['a', 'b', 'c', 'x', 'e']].map(
    (texts, at) => sent(at + 1, { obx: lines('TX', texts) }),
  );
  if (first === undefined || addendum === undefined || next === undefined) throw new Error('three messages');
  expect(liveIn(afterResults([first, addendum, next]).world)).toEqual(['Addendum final', 'a/b/c/x/e final']);
  // The addendum may be an older version of the only text that is known, so an analyst decides.
  expect(afterResults([first, next, addendum]).world.attention.map(({ kind }) => kind)).toEqual(['result-unclear']);
});

describe('no issue to review', () => {
  const minutes = ['0800', '0900', '1000'];
  const at = (minute: number, orders: readonly SentOrder[]): SentResults => ({ at: minute, orders });
  const glucose = (value: number, time = ''): string =>
    `NM|GLU^Glucose^L||${value}||${time === '' ? '' : `20260101${time}`}`;

  test.each<[string, readonly SentResults[]]>([
    [
      'a tolerance test, an OBR for each time, each preliminary and then final',
      minutes.flatMap((time, n) =>
        ['P', 'F'].map((status, m) =>
          at(2 * n + m, [{ status, collected: `20260101${time}`, obx: [glucose(90 + n)] }]),
        ),
      ),
    ],
    [
      'a tolerance test whose preliminary results arrive before the first final one',
      ['P', 'F'].flatMap((status, m) =>
        minutes.map((time, n) => at(3 * m + n, [{ status, collected: `20260101${time}`, obx: [glucose(90 + n)] }])),
      ),
    ],
    [
      'a tolerance test in one OBR, each time preliminary and then final',
      minutes.flatMap((time, n) =>
        ['P', 'F'].map((status, m) => at(2 * n + m, [{ status, obx: [glucose(90 + n, time)] }])),
      ),
    ],
    [
      'a tolerance test whose times are all final at once',
      ['P', 'F', 'F'].map((status, n) => at(n, [{ status, obx: minutes.map((time, m) => glucose(90 + m, time)) }])),
    ],
    [
      'isolates whose susceptibilities are final one after the other',
      ['1', '2'].flatMap((sub, n) =>
        ['P', 'F'].map((status, m) => at(2 * n + m, [sensitivity(sub, `organism ${sub}`, 'S', { status })])),
      ),
    ],
    [
      'a panel whose tests are final one after the other',
      ['P', 'R', 'F'].map((status, n) =>
        at(n, [
          { status, obx: ['a', 'b', 'c'].map((code, m) => `NM|${code}^T^L||5|${n > m ? 'F' : 'P'}`).slice(0, n + 1) },
        ]),
      ),
    ],
  ])('%s', (_, messages) => {
    expect(afterResults(messages).world.attention).toEqual([]);
  });
});

function conclusionIn(world: World): unknown {
  const report = world.resources().find(({ type }) => type === 'DiagnosticReport');
  return JSON.parse(`{${report?.body}}`).conclusion;
}

test('the withdrawal of one organism leaves the other one, which is listed if it arrives late', () => {
  const culture: SentResults = {
    at: 1,
    orders: [{ status: 'P', obx: ['ST|ORG^O^L||E. coli', 'ST|ORG^O^L||Klebsiella'] }],
  };
  const withdrawn: SentResults = { at: 2, orders: [{ obx: ['ST|ORG^O^L||E. coli|X'] }] };
  for (const [order, listed] of [
    [[culture, withdrawn], []],
    [[withdrawn, culture], ['result-missing']],
  ] as const) {
    const { world } = afterResults(order);
    expect(liveIn(world)).toEqual(['Klebsiella preliminary']);
    expect(world.attention.map(({ kind }) => kind).filter((kind) => kind === 'result-missing')).toEqual(listed);
  }
});

test('an addendum between a text and its correction stays, or its replacement is listed', () => {
  const [report, corrected] = [
    ['a', 'b', 'c', 'd', 'e'],
    ['a', 'b', 'x', 'd', 'e'],
  ].map((texts) => lines('TX', texts));
  const history = [
    sent(1, { obx: report ?? [] }),
    sent(2, { obx: lines('TX', ['Addendum']) }),
    sent(3, { status: 'C', obx: corrected ?? [] }),
  ];
  for (const order of ordersOf(history)) {
    const { world } = afterResults(order);
    const live = liveIn(world);
    expect(live).toContain('a/b/x/d/e corrected');
    expect(live.includes('Addendum final') || world.attention.length > 0, order.map(({ at }) => at).join()).toBe(true);
  }
});

test('the conclusion of a report has its stored texts, and does not quote withdrawn ones', () => {
  const conclusionAfter = (...messages: readonly SentResults[]): unknown => conclusionIn(afterResults(messages).world);
  const final = sent(1, { obx: lines('TX', ['No fracture seen.']) });
  expect(conclusionAfter(final)).toBe('No fracture seen.');
  expect(
    conclusionAfter(final, sent(2, { status: 'C', obx: ['TX|RAD^Report^L||No fracture seen.|W'] })),
  ).toBeUndefined();
  expect(conclusionAfter(final, sent(2, { obx: lines('TX', ['Fracture.']) }))).toBe('Fracture.');
  const report = sent(1, { obx: lines('TX', ['a', 'b', 'c']) });
  expect(conclusionAfter(report, sent(2, { obx: lines('TX', ['Addendum']) }))).toBe('a\nb\nc\nAddendum');
  // Each order of arrival, with sections that do not have the order of their codes.
  const sections = (at: number, status: string, ...texts: readonly string[]): SentResults =>
    sent(at, { status, obx: texts.map((text) => `TX|${text.replace('| ', '||')}`) });
  const histories: [readonly SentResults[], string | undefined][] = [
    [
      [
        sections(1, 'F', 'Z^Findings^L| No fracture.|F', 'I^Impression^L| Normal.|F'),
        sections(2, 'C', 'Z^Findings^L| Fracture.|C'),
      ],
      'Findings:\nFracture.\n\nImpression:\nNormal.',
    ],
    [
      [
        sections(1, 'F', 'Z^Findings^L| No fracture.|F', 'I^Impression^L| Normal.|F'),
        sections(2, 'C', 'I^Impression^L| Broken.|C'),
        sections(3, 'C', 'Z^Findings^L| |W'),
      ],
      'Broken.',
    ],
    [
      [
        sections(1, 'P', 'Z^Findings^L| No fracture.|P'),
        sections(2, 'F', 'Z^Findings^L| Fracture.|F', 'I^Impression^L| Broken.|F'),
      ],
      'Findings:\nFracture.\n\nImpression:\nBroken.',
    ],
    [[sections(1, 'F', 'Z^Findings^L| a|F'), sent(2, { obx: ['NM|K^K^L||4.0'] })], undefined],
    [[sections(1, 'F', 'Z^Findings^L| a|F'), sections(2, 'X')], undefined],
  ];
  for (const [history, conclusion] of histories) {
    for (const order of ordersOf(history))
      expect(conclusionAfter(...order), order.map(({ at }) => at).join()).toBe(conclusion);
  }
});

test('a culture of four messages ends in the same organisms in every order of arrival, or is listed', () => {
  const culture = (at: number, status: string, ...organisms: readonly string[]): SentResults =>
    sent(at, { status, obx: organisms.map((name) => `ST|ORG^Organism^L||${name}`) });
  const history = [
    culture(1, 'P', 'No growth'),
    culture(2, 'P', 'Gram negative rods'),
    culture(3, 'F', 'E. coli', 'Klebsiella'),
    culture(4, 'C', 'E. coli', 'Proteus'),
  ];
  const live = ['E. coli corrected', 'Proteus corrected'];
  expect(liveIn(afterResults(history).world)).toEqual(live);
  for (const order of ordersOf(history)) {
    const { world } = afterResults(order);
    const name = order.map(({ at }) => at).join();
    expect(liveIn(world), name).toEqual(expect.arrayContaining(live));
    expect(liveIn(world).length === live.length || world.attention.length > 0, name).toBe(true);
  }
});

test('a final susceptibility of a withdrawn organism is withdrawn and listed in every order of arrival', () => {
  const organism = (status: string): SentOrder => ({ filler: 'PA', status, obx: ['ST|ORG^Organism^L|1|E. coli'] });
  const tested = (status: string): SentOrder =>
    sensitivity('1', 'E. coli', 'S', { status, filler: 'CH', parentOrder: '^PA' });
  const at = (minute: number, ...orders: readonly SentOrder[]): SentResults => ({ at: minute, orders });
  const history = [at(1, organism('F')), at(2, tested('F')), at(3, organism('W'))];
  const rerun = at(4, organism('P'), tested('P'));
  for (const [messages, live, isListed] of [
    [history, [], true],
    [[...history, at(4, organism('F'))], ['E. coli final'], true],
    [[at(1, organism('P'), tested('P')), at(2, organism('F'), tested('F')), at(3, organism('W'))], [], false],
    [[at(2, organism('F'), tested('F')), at(3, organism('W')), rerun], ['E. coli preliminary', 'S preliminary'], false],
  ] as const) {
    for (const order of ordersOf(messages)) {
      const { world } = afterResults(order);
      const name = order.map(({ at: minute }) => minute).join();
      expect(liveIn(world), name).toEqual(live);
      const isFound = world.attention.some(({ detail }) => detail?.['reason'] === 'parent-changed');
      expect(isFound || !isListed, name).toBe(true);
    }
  }
});

test('two values with one time are listed, in one record and after a merge', () => {
  const said = (value: string, status = 'F', at: number | string = 1): SentResults =>
    sent(at, { status, obx: [`NM|K^K^L||${value}`] });
  const kindsOf = (...messages: readonly SentResults[]): string[] =>
    afterResults(messages).world.attention.map(({ kind }) => kind);
  expect(kindsOf(said('4.0'), said('4.1'))).toEqual(['tied-result']);
  expect(kindsOf(said('4.0', 'P'), said('4.1', 'P'))).toEqual(['tied-result']);
  // Behind an older final value, which a withdrawal may hide later.
  expect(kindsOf(said('3.9', 'F', 0), said('4.0', 'P'), said('4.1', 'P'))).toEqual(['tied-result']);
  // Repeated, with another control id; corrected; preliminary and final; a second later.
  expect(kindsOf(said('4.0'), said('4.0'))).toEqual([]);
  expect(kindsOf(said('4.0', 'P'), said('4.0', 'P'))).toEqual([]);
  expect(kindsOf(said('4.0'), said('4.1', 'C'))).toEqual([]);
  expect(kindsOf(said('4.0'), said('4.1', 'P'))).toEqual([]);
  expect(kindsOf(said('4.0', 'F', '20260101120101'), said('4.1', 'F', '20260101120102'))).toEqual([]);
  const world = createWorld();
  const person = '^^^HOSP^MR||Doe^Jane||19800229|F';
  world.send(resultMessage(said('4.0'), `P1${person}`));
  world.send(resultMessage(said('4.1'), `P2${person}`));
  world.send(`MSH|^~\\&|A|B|C|D|2026||ADT^A40|1|P|2.5.1\nPID|1||P1${person}\nMRG|P2^^^HOSP^MR`);
  expect(world.attention.map(({ kind }) => kind)).toEqual(['tied-result']);
});

/** Each order is two messages of one minute with two values. */
const tied = (...orders: readonly SentOrder[]): readonly SentResults[] =>
  orders.flatMap((order, n) =>
    ['1', '2'].map((value) => sent(n + 1, { ...order, obx: order.obx.map((each) => `${each}||${value}`) })),
  );
const ofMinute = (minute: string, code: string): SentOrder => ({
  filler: '',
  collected: `20260101${minute}`,
  obx: [`NM|${code}^T^L`],
});

test.each<[string, readonly SentResults[], number]>([
  ['a monitor without seconds, for an hour', tied(...[1, 2, 3].map((n) => ofMinute(`080${n}`, 'HR'))), 1],
  ['the codes of a monitor', tied(ofMinute('0801', 'HR'), ofMinute('0801', 'SPO2')), 2],
  ['a meter on two days', tied(ofMinute('0801', 'GLU'), { ...ofMinute('', 'GLU'), collected: '202601020801' }), 2],
  ['two orders of a laboratory', tied({ filler: 'F1', obx: ['NM|K^K^L'] }, { filler: 'F2', obx: ['NM|K^K^L'] }), 2],
  [
    'the times of a tolerance test',
    tied(...['0800', '0900'].map((time) => ({ collected: `20260101${time}`, obx: ['NM|GLU^G^L'] }))),
    1,
  ],
  [
    'susceptibilities of two isolates',
    tied(...['1', '2'].map((sub) => ({ ...sensitivity(sub, '', ''), obx: ['NM|AMP^Ampicillin^L'] }))),
    2,
  ],
])('values with one time are one finding for each order and code: %s', (_, messages, findings) => {
  const { attention } = afterResults(messages).world;
  expect(attention.every(({ kind }) => kind === 'tied-result')).toBe(true);
  expect(new Set(attention.map(({ about }) => about)).size).toBe(findings);
});

test('a preliminary susceptibility of an organism that becomes the first again is reported once', () => {
  const organism = (at: number, name: string): SentResults =>
    sent(at, { status: 'P', filler: 'PA', obx: [`ST|ORG^Organism^L|1|${name}`] });
  const tested = (at: number): SentResults =>
    sent(at, sensitivity('1', 'E. coli', 'S', { status: 'P', filler: 'CH', parentOrder: '^PA' }));
  const times = (...messages: readonly SentResults[]): number[] =>
    afterResults(messages).findings.flatMap((each, n) =>
      each.some((finding) => finding.endsWith('result-missing')) ? [Number(messages[n]?.at)] : [],
    );
  const history = [organism(1, 'E. coli'), tested(2), organism(3, 'S. aureus'), organism(4, 'E. coli')];
  expect(times(...history, organism(5, 'E. coli'), organism(6, 'E. coli'))).toEqual([3, 4]);
  // It changes once more, is stated again, and changes with the next repetition of its organism.
  expect(times(...history, organism(5, 'S. aureus'), organism(6, 'E. coli'))).toEqual([3, 4, 6]);
  expect(times(...history.slice(0, 3), tested(4), organism(5, 'S. aureus'))).toEqual([3, 5]);
  // The other organism arrives late.
  expect(times(organism(1, 'E. coli'), tested(2), organism(4, 'E. coli'), organism(3, 'S. aureus'))).toEqual([3]);
});

test('a withdrawn result is not in its report, in any order of arrival, and a cancelled one is', () => {
  const said = (at: number, status: string, code = 'K'): SentResults =>
    sent(at, { status: 'F', obx: [`NM|${code}^T^L||4.0|${status}`] });
  for (const [messages, reported] of [
    [[said(1, 'F'), said(2, 'W')], []],
    [[said(1, 'F'), said(2, 'D'), said(1, 'F', 'Na')], ['4.0 final']],
    [[said(1, 'F'), said(2, 'W'), said(3, 'P')], ['4.0 preliminary']],
    [[said(1, 'F'), said(2, 'W'), said(3, 'F')], ['4.0 final']],
    [[said(1, 'F'), said(2, 'X')], ['4.0 cancelled']],
  ] as const) {
    for (const order of ordersOf(messages))
      expect(reportedIn(afterResults(order).world), order.map(({ at }) => at).join()).toEqual(reported);
  }
});

test('a withdrawn document is not in its report, in any order of arrival', () => {
  const said = (at: number, ...documents: readonly (readonly [code: string, status: string])[]): SentResults =>
    sent(at, {
      status: 'F',
      obx: documents.map(([code, status]) => `ED|${code}^${code}^L||^AP^PDF^Base64^SGVsbG8=|${status}`),
    });
  const both = said(1, ['ECG', 'F'], ['MRI', 'F']);
  for (const [messages, presented] of [
    [[both, said(2, ['ECG', 'W'])], ['MRI']],
    [[both, said(2, ['ECG', 'D'], ['MRI', 'F'])], ['MRI']],
    [[both, said(2, ['ECG', 'W'], ['MRI', 'W'])], []],
    [[said(1, ['ECG', 'F']), said(2, ['ECG', 'W']), said(3, ['ECG', 'F'])], ['ECG']],
  ] as const) {
    for (const order of ordersOf(messages)) {
      const { world } = afterResults(order);
      const reports = world.resources().filter(({ type }) => type === 'DiagnosticReport');
      const forms = reports.flatMap(({ body }) => objectsOf(objectOf(body)['presentedForm']));
      const titles = forms.map(({ title }) => title);
      expect(titles, order.map(({ at }) => at).join()).toEqual(presented);
    }
  }
});

test('a final susceptibility of a former organism is listed once, until the sender states it again', () => {
  const organism = (at: number, name: string): SentResults =>
    sent(at, { filler: 'PA', obx: [`ST|ORG^Organism^L|1|${name}`] });
  const tested = (at: number, status = 'F'): SentResults =>
    sent(at, sensitivity('1', 'E. coli', 'S', { status, filler: 'CH', parentOrder: '^PA' }));
  const history = [
    organism(1, 'E. coli'),
    tested(2),
    organism(3, 'S. aureus'),
    organism(4, 'S. aureus'),
    organism(5, 'Klebsiella'),
    tested(6),
    organism(7, 'Klebsiella'),
    organism(8, 'Klebsiella'),
  ];
  const times = (messages: readonly SentResults[]): number[] =>
    afterResults(messages).findings.flatMap((each, n) =>
      each.some((finding) => finding.endsWith('result-missing')) ? [Number(messages[n]?.at)] : [],
    );
  expect(times(history)).toEqual([3, 7]);
  // A preliminary one is withdrawn before. The final one, which arrives late, is new.
  expect(
    times([organism(1, 'E. coli'), tested(2, 'P'), organism(4, 'S. aureus'), tested(3), organism(5, 'S. aureus')]),
  ).toEqual([4, 3]);
});

test('a correction of results that a final message no longer had leaves the final one for review', () => {
  const said = (at: number, status: string, ...values: readonly string[]): SentResults =>
    sent(at, { status, obx: lines('ST', values) });
  const { world } = afterResults([said(1, 'P', 'a', 'b'), said(2, 'F', 'c'), said(3, 'C', 'a', 'b')]);
  expect(liveIn(world)).toEqual(['a corrected', 'b corrected', 'c final']);
  expect(world.attention.map(({ kind }) => kind)).toEqual(['result-missing']);
});

/** Messages about one group of results, with any status at any time. */
const groups = fc
  .array(
    fc.record({
      status: fc.constantFrom('P', 'P', 'F', 'C'),
      values: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 2, maxLength: sized(3, 4) },
  )
  .map((all) => all.map(({ status, values }, at) => sent(at + 1, { status, obx: lines('ST', values) })));

/** Messages about one group of results or one text, of different times. */
const history = fc.constantFrom('ST', 'ST', 'TX').chain((type) =>
  fc
    .uniqueArray(
      fc.record({
        at: fc.integer({ min: 1, max: 9 }),
        status: fc.constantFrom('P', 'F', 'C'),
        values: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 }),
      }),
      { selector: ({ at }) => at, minLength: 2, maxLength: sized(3, 4) },
    )
    .map((all) => {
      // A final result changes only by a correction (table 0085): preliminary messages are older.
      const times = all.map(({ at }) => at).toSorted((one, other) => one - other);
      const [below, final] = [true, false].map((isBelow) => all.filter(({ status }) => (status === 'P') === isBelow));
      const inOrder = [...(below ?? []), ...(final ?? [])];
      return inOrder.map(({ status, values }, n) => sent(times[n] ?? 0, { status, obx: lines(type, values) }));
    }),
);

/** An organism, its susceptibility and a result of the susceptibility, of different times. A sender uses OBR-26.3 always or never. */
const families = fc.boolean().chain((isNamed) => {
  const named = (name: string): string => (isNamed ? name : '');
  const status = fc.constantFrom('P', 'P', 'F', 'F', 'C', 'W');
  const name = fc.constantFrom('E. coli', 'S. aureus');
  const organisms = fc
    .tuple(status, name)
    .map(([of, value]): SentOrder => ({ status: of, filler: 'PA', obx: [`ST|ORG^Organism^L|1|${value}`] }));
  const susceptibilities = fc
    .tuple(status, name)
    .map(([of, value]) => sensitivity('1', named(value), 'S', { status: of, filler: 'CH', parentOrder: '^PA' }));
  const below = status.map((of): SentOrder => ({
    status: of,
    filler: 'GC',
    parent: `AMP&Ampicillin&L^^${named('S')}`,
    parentOrder: '^CH',
    obx: ['ST|ESBL^ESBL^L||none'],
  }));
  const orders = fc.oneof(
    ...[organisms, organisms, susceptibilities, susceptibilities, below].map((one) => one.map((order) => [order])),
    fc.tuple(organisms, susceptibilities),
  );
  return fc
    .array(orders, { minLength: 2, maxLength: sized(3, 4) })
    .map((all) => all.map((each, at): SentResults => ({ at: at + 1, orders: each })));
});

test.each<[string, fc.Arbitrary<readonly SentResults[]>, number]>([
  ['groups and texts', history, sized(12, 5000)],
  ['groups with any status', groups, sized(12, 500)],
  ['results and their parents', families, sized(20, 5000)],
])('every order of %s ends in the same results, or the difference is listed', (_, histories, numRuns) => {
  fc.assert(
    fc.property(histories, (messages) => {
      const ends = ordersOf(messages).map((order) => {
        const { world } = afterResults([...order, ...order.slice(0, 1)]);
        const live = liveIn(world);
        return { live: JSON.stringify([live, conclusionIn(world)]), isListed: world.attention.length > 0 };
      });
      for (const end of ends) {
        const others = ends.filter(({ live }) => live !== end.live);
        expect(
          others.every(({ isListed }) => isListed || end.isListed),
          JSON.stringify(ends),
        ).toBe(true);
      }
    }),
    { numRuns },
  );
});
