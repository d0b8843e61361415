/**
 * Simulated days of two hospitals, with two registration systems, three laboratories, transcription and a point-of-care
 * device. People are born, marry, are mistaken for each other and are merged. Each message has the facts that it states. So a
 * test knows the true records without the gateway's rules.
 */
import { randomFrom } from '../stack/tools/random.ts';
import { segment } from './hl7-mapped.ts';

type SenderName = 'northAdt' | 'southAdt' | 'chemistry' | 'microbiology' | 'reference' | 'transcription' | 'poc';

/** MSH-3 and MSH-4. */
const SENDERS: Readonly<Record<SenderName, readonly [application: string, facility: string]>> = {
  northAdt: ['ADT', 'NORTH'],
  southAdt: ['REG', 'SOUTH'],
  chemistry: ['CHEM', 'NORTH'],
  microbiology: ['MICRO', 'SOUTH'],
  reference: ['REFLAB', 'REFLAB'],
  transcription: ['TRANS', 'NORTH'],
  poc: ['POC', 'WARD'],
};
const SENDER_NAMES = Object.keys(SENDERS) as readonly SenderName[];

type AuthorityName = 'NORTH' | 'SOUTH' | 'EPI';
const OIDS: Readonly<Record<AuthorityName, string>> = { NORTH: '1.2.3.1', SOUTH: '1.2.3.2', EPI: '1.2.3.9' };
/** As a site's settings name them. */
export const AUTHORITIES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(OIDS).map(([name, oid]) => [name, `urn:oid:${oid}`]),
);

/** `omitted`: the final report no longer has it, but no message withdrew it. */
type State = 'preliminary' | 'final' | 'corrected' | 'withdrawn' | 'omitted';

/** A statement about a result, document or allergy. */
export interface Fact {
  /** The true thing, such as `result 3`. */
  readonly of: string;
  /** A number that only this value of this thing has. Null: a withdrawal without a value. */
  readonly token: number | null;
  readonly state: State;
}

export interface SimulatedMessage {
  readonly controlId: string;
  readonly sender: SenderName;
  readonly person: string;
  readonly ms: number;
  readonly text: string;
  /** The identifiers that it shows to be one person's: `NORTH 1001`. */
  readonly numbers: readonly string[];
  /** An ADT states the person. */
  readonly admission: { readonly family: string; readonly birthDate: string } | null;
  readonly facts: readonly Fact[];
  /** The order numbers that it shows to be one order's. */
  readonly orders: readonly string[];
  /** The person is mistyped, provisional or shortened, so that the message may be rejected. */
  readonly isUncertain: boolean;
}

export interface SimulatedDay {
  readonly messages: readonly SimulatedMessage[];
  /** The settings of the site name the assigning authorities. */
  readonly isNamed: boolean;
}

interface Person {
  readonly id: string;
  family: string;
  given: string;
  born: string;
  readonly sex: 'F' | 'M';
  readonly numbers: Partial<Record<AuthorityName, string>>;
  order?: string;
  mother?: Person;
}

type Style = 'full' | 'bare' | 'oid' | 'none';
type Clock = 'local' | 'offset' | 'utc' | 'seconds';
interface Habits {
  readonly style: Style;
  readonly clock: Clock;
  readonly hasOrderAuthority: boolean;
  readonly hasStatusTime: boolean;
}

const FAMILIES = [
  'Smith',
  'Müller',
  "O'Neill",
  'García',
  'Nguyen',
  'Jones',
  'Meyer-Schmidt',
  'Kowalski',
  'Björk',
  'Lee',
];
const GIVEN = { F: ['Ann', 'Anna Maria', 'Zoë', 'Kate', 'Ella'], M: ['John', 'William', 'Peter Paul', 'Ömer', 'Li'] };
const NICKNAMES: Readonly<Record<string, string>> = { William: 'Bill', Kate: 'Kitty', John: 'Jack', Ann: 'Nancy' };
const NEWBORN_NAMES = ['BABYGIRL', 'BABY GIRL', 'NB', 'UNNAMED', 'B/O {mother}', 'GIRL{order}', 'TWIN {letter}', ''];
const TESTS = ['K', 'NA', 'GLU', 'CREA'];
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MORNING_MS = Date.parse('2026-03-27T05:00:00Z');
const FIRST_TOKEN = 500_000;
/** Tokens in the text of a resource. */
export const TOKENS = /(?<![\w.-])5\d{5}(?![\w-])/g;

const VIENNA = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Vienna',
  dateStyle: 'short',
  timeStyle: 'medium',
});
const wallClock = (ms: number): string => VIENNA.format(ms).replaceAll(/\D/g, '');

interface Observed {
  readonly code: string;
  readonly sub?: string;
  readonly type?: string;
  readonly value: string;
  readonly status: 'P' | 'F' | 'C' | 'W' | 'D' | 'X';
  readonly at?: number;
}
interface Order {
  readonly placer?: string;
  readonly filler?: string;
  readonly code?: string;
  readonly collected?: number;
  readonly status: 'P' | 'F' | 'C';
  readonly parent?: string;
  readonly parentOrder?: string;
  readonly observed: readonly Observed[];
}
interface TestResult {
  readonly of: string;
  readonly code: string;
  token: number;
  status: Observed['status'];
}
interface Shown {
  readonly name?: string;
  readonly born?: string;
  readonly isUncertain?: boolean;
}

const STATES = {
  P: 'preliminary',
  F: 'final',
  C: 'corrected',
  W: 'withdrawn',
  D: 'withdrawn',
  X: 'withdrawn',
} as const;

/** @param size the number of scenes, each about one person or one family */
export function simulateDay(seed: number, size: number): SimulatedDay {
  const random = randomFrom(seed * 7919 + 13);
  for (let at = 0; at < 5; at += 1) random();
  const below = (count: number): number => Math.floor(random() * count);
  const chance = (probability: number): boolean => random() < probability;
  const pick = <T>(...all: readonly [T, ...T[]]): T => all[below(all.length)] ?? all[0];
  const messages: SimulatedMessage[] = [];
  const isNamed = chance(0.5);
  const habits = Object.fromEntries(
    SENDER_NAMES.map((name): [string, Habits] => [
      name,
      {
        style:
          name === 'chemistry' || name === 'northAdt'
            ? pick<Style>('full', 'full', 'bare', 'bare', 'oid', 'none')
            : pick<Style>('full', 'full', 'bare', 'oid'),
        clock: pick<Clock>('local', 'offset', 'utc', 'seconds'),
        hasOrderAuthority: chance(0.5),
        hasStatusTime: chance(0.7),
      },
    ]),
  ) as Readonly<Record<SenderName, Habits>>;

  let count = 0;
  let token = FIRST_TOKEN;
  let things = 0;
  let clockMs = MORNING_MS;
  const next = (): number => (token += 1);
  const thing = (kind: string): string => `${kind} ${(things += 1)}`;
  /** Both hospitals count from one number, so that one value is of two people. */
  const given = { NORTH: 1000, SOUTH: 1000, EPI: 7000 };
  const numberAt = (authority: AuthorityName): string => `${(given[authority] += 1)}`;

  const later = (most = 180): number => (clockMs += (1 + below(most)) * MINUTE_MS);
  const stamp = (ms: number, { clock }: Habits): string => {
    if (clock === 'local') return wallClock(ms).slice(0, 12);
    if (clock === 'utc') return `${new Date(ms).toISOString().replaceAll(/\D/g, '').slice(0, 12)}+0000`;
    const offset = Number(wallClock(ms).slice(8, 10)) - new Date(ms).getUTCHours();
    const hours = (offset + 24) % 24;
    return `${wallClock(ms).slice(0, clock === 'seconds' ? 14 : 12)}+0${hours}00`;
  };

  const person = (of: Partial<Omit<Person, 'id' | 'numbers'>> & { numbers?: Person['numbers'] } = {}): Person => {
    const sex = of.sex ?? pick('F', 'M');
    const year = 1930 + below(85);
    return {
      id: `person ${(things += 1)}`,
      family: pick(...(FAMILIES as [string])),
      given: pick(...(GIVEN[sex] as [string])),
      // No two people are born on one day by chance.
      born: new Date(Date.UTC(year, 0, 2) + ((things * 37) % 360) * DAY_MS)
        .toISOString()
        .slice(0, 10)
        .replaceAll('-', ''),
      numbers: {},
      ...of,
      sex,
    };
  };

  const cx = (authority: AuthorityName, value: string, { style }: Habits, isAtNorth = false): string => {
    const of = style === 'none' && !isAtNorth ? 'full' : style === 'none' && authority !== 'NORTH' ? 'bare' : style;
    const oid = `${OIDS[authority]}&ISO`;
    const parts = { full: `${authority}&${oid}`, bare: authority, oid: `&${oid}`, none: '' };
    return `${value}^^^${parts[of]}^${authority === 'EPI' ? 'PI' : 'MR'}`;
  };
  const listOf = (sender: SenderName, numbers: readonly (readonly [AuthorityName, string])[]): string =>
    numbers.map(([authority, value]) => cx(authority, value, habits[sender], SENDERS[sender][1] === 'NORTH')).join('~');
  const named = (numbers: readonly (readonly [AuthorityName, string])[]): string[] =>
    numbers.map((each) => each.join(' '));

  const xpn = ({ family, given: first }: Person): string => `${family}^${first.replace(' ', '^')}`;
  const pidOf = (of: Person, list: string, shown: Shown): string =>
    segment('PID', {
      1: '1',
      3: list,
      5: shown.name ?? xpn(of),
      7: shown.born ?? of.born,
      8: of.sex,
      ...(of.mother?.numbers.NORTH !== undefined && { 21: `${of.mother.numbers.NORTH}^^^NORTH^MR` }),
      25: of.order ?? '',
    });

  const emit = (
    sender: SenderName,
    type: string,
    of: Person,
    ms: number,
    lines: readonly string[],
    more: Pick<SimulatedMessage, 'numbers' | 'facts' | 'admission' | 'isUncertain'> & {
      readonly orders?: readonly string[];
    },
  ): void => {
    const controlId = `S${(count += 1)}`;
    const [application, facility] = SENDERS[sender];
    const msh = `MSH|^~\\&|${application}|${facility}|GW|SITE|${stamp(ms, habits[sender])}||${type}|${controlId}|P|2.5.1`;
    messages.push({ controlId, sender, person: of.id, ms, text: [msh, ...lines].join('\n'), orders: [], ...more });
  };

  type Numbers = readonly (readonly [AuthorityName, string])[];
  const adt = (
    sender: SenderName,
    event: string,
    of: Person,
    numbers: Numbers,
    { merged, lines = [], facts = [], ...shown }: Shown & { merged?: Numbers; lines?: string[]; facts?: Fact[] } = {},
  ): void => {
    const ms = later();
    const mrg = merged === undefined ? [] : [`MRG|${listOf(sender, merged)}`];
    const all = [`EVN||${stamp(ms, habits[sender])}`, pidOf(of, listOf(sender, numbers), shown), ...mrg, ...lines];
    const name = (shown.name ?? xpn(of)).split('^')[0] ?? '';
    emit(sender, `ADT^${event}`, of, ms, all, {
      numbers: named([...numbers, ...(merged ?? [])]),
      facts,
      admission: { family: name, birthDate: (shown.born ?? of.born).replace(/(....)(..)(..)/, '$1-$2-$3') },
      isUncertain: shown.isUncertain ?? false,
    });
  };

  /** How a laboratory knows the person. */
  const shownBy = (of: Person): Shown => {
    const [first = ''] = of.given.split(' ');
    const nickname = NICKNAMES[of.given];
    if (chance(0.7)) return {};
    if (nickname !== undefined && chance(0.5)) return { name: `${of.family}^${nickname}`, isUncertain: true };
    return pick<Shown>(
      { name: xpn(of).toUpperCase() },
      { name: `${of.family}^${first.charAt(0)}`, isUncertain: true },
      { born: '', isUncertain: true },
      { born: of.born.replace(/.$/, (digit) => `${(Number(digit) + 1) % 10}`), isUncertain: true },
    );
  };

  const oru = (
    sender: SenderName,
    of: Person,
    [authority, value]: readonly [AuthorityName, string],
    orders: readonly Order[],
    facts: readonly Fact[],
    { event = 'R01', ...shown }: Shown & { event?: string } = shownBy(of),
  ): void => {
    const own = habits[sender];
    const ms = later(60);
    const ei = (number: string | undefined, by: string): string =>
      number === undefined ? '' : own.hasOrderAuthority ? `${number}^${by}` : number;
    const lines = orders.flatMap((order, at) => [
      segment('OBR', {
        1: `${at + 1}`,
        2: ei(order.placer, 'HIS'),
        3: ei(order.filler, SENDERS[sender][0]),
        4: `${order.code ?? 'PANEL'}^Panel^L`,
        7: order.collected === undefined ? '' : stamp(order.collected, own),
        22: own.hasStatusTime ? stamp(ms, own) : '',
        25: order.status,
        26: order.parent ?? '',
        29: order.parentOrder === undefined ? '' : `^${order.parentOrder}`,
      }),
      ...order.observed.map((obx, index) =>
        segment('OBX', {
          1: `${index + 1}`,
          2: obx.type ?? 'NM',
          3: `${obx.code}^Test ${obx.code}^L`,
          4: obx.sub ?? '',
          5: obx.value,
          6: (obx.type ?? 'NM') === 'NM' && obx.value !== '' ? 'mmol/L' : '',
          11: obx.status,
          14: obx.at === undefined ? '' : stamp(obx.at, own),
        }),
      ),
    ]);
    emit(sender, `ORU^${event}`, of, ms, [pidOf(of, listOf(sender, [[authority, value]]), shown), ...lines], {
      numbers: [`${authority} ${value}`],
      facts,
      orders: orders.flatMap(({ placer, filler }) => [placer, filler].filter((each) => each !== undefined)),
      admission: null,
      isUncertain: shown.isUncertain ?? false,
    });
  };

  const anyNumber = (of: Person): readonly [AuthorityName, string] => {
    const all = (['NORTH', 'SOUTH'] as const).flatMap((authority) => {
      const value = of.numbers[authority];
      return value === undefined ? [] : [[authority, value] as const];
    });
    const [first = ['EPI', of.numbers.EPI ?? '']] = all;
    return all[below(all.length)] ?? (first as readonly [AuthorityName, string]);
  };
  const laboratoryOf = ([authority]: readonly [AuthorityName, string]): SenderName =>
    authority === 'NORTH' ? pick('chemistry', 'chemistry', 'reference') : pick('microbiology', 'reference');

  // --- What happens to samples, texts and documents.

  /** A panel that becomes final test by test, and is corrected, withdrawn and repeated. */
  const panel = (of: Person, through?: () => readonly [AuthorityName, string]): void => {
    const usual = anyNumber(of);
    const numberOf = through ?? (() => usual);
    const sender = laboratoryOf(numberOf());
    const [placer, filler] = [`P${things}-${below(90)}`, `F${(things += 1)}`];
    const collected = later(30);
    const tests = TESTS.slice(0, 1 + below(TESTS.length));
    const results = tests.map((code): TestResult => ({ of: thing('result'), code, token: 0, status: 'P' }));
    const isDelta = chance(0.4);
    const numbering = pick('both', 'both', 'filler', 'placer first', 'placer last');
    let step = 0;
    for (let steps = 1 + below(5); steps > 0; steps -= 1) {
      const changed = results.filter((result) => {
        const { status, token: value } = result;
        if (value === 0) return assign(result, chance(0.5) ? 'P' : 'F');
        if (status === 'P') return chance(0.7) && assign(result, pick('F', 'F', 'F', 'P', 'X'));
        if (status === 'F' || status === 'C') return chance(0.3) && assign(result, pick('C', 'C', 'W', 'D'));
        // A repeated measurement after a withdrawal.
        return chance(0.4) && assign(result, pick('P', 'F'));
      });
      if (changed.length === 0) continue;
      step += 1;
      const stated = isDelta ? changed : results;
      const isBelow = stated.some(({ status }) => status === 'P');
      const isPlacerOnly = (numbering === 'placer first' && step === 1) || (numbering === 'placer last' && step === 3);
      const isFillerOnly = numbering === 'filler' || (numbering === 'placer last' && step === 1);
      const order: Order = {
        ...(!isFillerOnly && { placer }),
        ...(!isPlacerOnly && { filler }),
        collected,
        status: isBelow ? 'P' : chance(0.3) ? 'C' : 'F',
        observed: stated.map(({ code, status, token: value }) => ({
          code,
          status,
          value: STATES[status] === 'withdrawn' && chance(0.5) ? '' : `${value}`,
        })),
      };
      const facts = stated.map(({ of: which, status, token: value }) => ({
        of: which,
        token: value,
        state: STATES[status],
      }));
      oru(sender, of, numberOf(), [order], facts);
    }
  };
  function assign(result: TestResult, status: Observed['status']): true {
    if (STATES[status] !== 'withdrawn') result.token = next();
    result.status = status;
    return true;
  }

  /** A tolerance test: one order, a measurement each hour. */
  const tolerance = (of: Person): void => {
    const number = anyNumber(of);
    const sender = laboratoryOf(number);
    const filler = `T${(things += 1)}`;
    const start = later(30);
    const hours = [0, 1, 2].map((hour) => ({ of: thing('result'), collected: start + hour * 60 * MINUTE_MS }));
    const values = new Map<string, number>();
    const order = (which: typeof hours, status: 'F' | 'C'): Order[] =>
      which.map(({ of: result, collected }) => {
        values.set(result, next());
        const observed = [{ code: 'GLU', status, value: `${values.get(result)}` }];
        return { filler, code: 'GTT', collected, status, observed };
      });
    const facts = (which: typeof hours, state: State): Fact[] =>
      which.map(({ of: result }) => ({ of: result, token: values.get(result) ?? 0, state }));
    for (const each of hours) {
      const orders = order([each], 'F');
      oru(sender, of, number, orders, facts([each], 'final'));
    }
    if (chance(0.5)) {
      const orders = order(hours, 'C');
      oru(sender, of, number, orders, facts(hours, 'corrected'));
    }
  };

  /** A culture: no growth, then isolates, each with its susceptibilities. */
  const culture = (of: Person): void => {
    const number = anyNumber(of);
    const filler = `M${(things += 1)}`;
    const collected = later(30);
    const none = { of: thing('result'), token: next() };
    const organisms = ['Escherichia coli', 'Klebsiella pneumoniae'].slice(0, 1 + below(2));
    const isolates = organisms.map((name, at) => ({
      of: thing('result'),
      name,
      sub: `${at + 1}`,
      token: 0,
      drugs: ['AMP', 'CIP'].map((code) => ({ of: thing('result'), code, token: 0 })),
    }));
    const isSubCounted = chance(0.5);
    oru(
      'microbiology',
      of,
      number,
      [
        {
          filler,
          code: 'CULT',
          collected,
          status: 'P',
          observed: [
            {
              code: 'ORG',
              ...(isSubCounted && { sub: '1' }),
              type: 'ST',
              value: `No growth ${none.token}`,
              status: 'P',
            },
          ],
        },
      ],
      [{ of: none.of, token: none.token, state: 'preliminary' }],
    );
    const main = (status: 'P' | 'F' | 'C'): Order => ({
      filler,
      code: 'CULT',
      collected,
      status,
      observed: isolates.map(({ name, sub, token: value }) => ({
        code: 'ORG',
        sub,
        type: 'ST',
        value: `${name} ${value}`,
        status,
      })),
    });
    const children = (of2: typeof isolates, status: 'P' | 'F' | 'C'): Order[] =>
      of2.map(({ name, sub, drugs, token: value }) => ({
        filler,
        code: 'SUSC',
        collected,
        status,
        parent: `ORG&Test ORG&L^${sub}^${name} ${value}`,
        parentOrder: filler,
        observed: drugs.map((drug) => ({ code: drug.code, value: `${drug.token}`, status })),
      }));
    const factsOf = (all: readonly { of: string; token: number }[], state: State): Fact[] =>
      all.map(({ of: result, token: value }) => ({ of: result, token: value, state }));
    for (const isolate of isolates) {
      isolate.token = next();
      for (const drug of isolate.drugs) drug.token = next();
    }
    const drugs = isolates.flatMap((isolate) => isolate.drugs);
    const gone: Fact = { of: none.of, token: none.token, state: 'omitted' };
    if (chance(0.5)) {
      oru('microbiology', of, number, [main('P')], [...factsOf(isolates, 'preliminary')]);
    }
    oru(
      'microbiology',
      of,
      number,
      [main('F'), ...children(isolates, 'F')],
      [gone, ...factsOf([...isolates, ...drugs], 'final')],
    );
    if (chance(0.5)) {
      const [last] = isolates.slice(-1);
      if (last === undefined) return;
      for (const drug of last.drugs) drug.token = next();
      oru('microbiology', of, number, children([last], 'C'), factsOf(last.drugs, 'corrected'));
    }
  };

  /** A report of lines of text, with a later version, a correction or an addendum. */
  const textReport = (of: Person): void => {
    const number = anyNumber(of);
    const filler = `R${(things += 1)}`;
    const collected = later(30);
    const report = thing('result');
    const type = pick('TX', 'FT');
    const isCounted = chance(0.5);
    const code = 'RAD';
    const order = (lines: number, value: number, status: 'P' | 'F' | 'C'): Order => ({
      filler,
      code,
      collected,
      status,
      observed: Array.from({ length: lines }, (_, at) => ({
        code: 'TEXT',
        ...(isCounted && { sub: `${at + 1}` }),
        type,
        value: `Line ${at + 1} of ${value}`,
        status,
      })),
    });
    const say = (lines: number, status: 'P' | 'F' | 'C', which = report): void => {
      const value = next();
      oru('reference', of, number, [order(lines, value, status)], [{ of: which, token: value, state: STATES[status] }]);
    };
    const lines = 3 + below(3);
    if (chance(0.5)) say(lines - below(2), 'P');
    say(lines, 'F');
    if (chance(0.4)) say(lines + below(3), 'C');
    else if (chance(0.5)) say(1, 'F', thing('result'));
  };

  /** Accession numbers begin again each year. */
  const accession = (people: readonly Person[]): void => {
    const filler = `A${String(below(9)).padStart(4, '0')}`;
    const now = clockMs;
    const hasTime = chance(0.7);
    for (const [at, of] of people.entries()) {
      if (at === 0) clockMs -= 364 * DAY_MS;
      const result = thing('result');
      const number = anyNumber(of);
      const collected = hasTime ? { collected: clockMs } : {};
      for (const status of chance(0.5) ? (['P', 'F'] as const) : (['F'] as const)) {
        const value = next();
        const observed = [{ code: 'TSH', status, value: `${value}` }];
        oru(
          'reference',
          of,
          number,
          [{ filler, ...collected, status, observed }],
          [{ of: result, token: value, state: STATES[status] }],
        );
      }
      clockMs = now;
    }
  };

  const pointOfCare = (of: Person): void => {
    const number = anyNumber(of);
    const hasNumber = chance(0.5);
    for (let at = 0; at < 1 + below(3); at += 1) {
      const ms = later(30);
      const value = next();
      const order: Order = {
        ...(hasNumber && { filler: `D${(things += 1)}` }),
        code: 'POCGLU',
        collected: ms,
        status: 'F',
        observed: [{ code: 'GLU', status: 'F', value: `${value}`, at: ms }],
      };
      oru('poc', of, number, [order], [{ of: thing('result'), token: value, state: 'final' }], {
        ...shownBy(of),
        event: pick('R30', 'R31', 'R32', 'R01'),
      });
    }
  };

  const documents = (of: Person): void => {
    const [authority, value] = anyNumber(of);
    const own = habits.transcription;
    const hasAuthority = own.hasOrderAuthority;
    const ei = (number: string): string => (number === '' ? '' : hasAuthority ? `${number}^TRANS` : number);
    const say = (
      event: string,
      number: string,
      parent: string,
      facts: Fact[],
      status: string,
      token2: number,
    ): void => {
      const ms = later();
      const txa = segment('TXA', {
        1: '1',
        2: 'OP',
        3: 'TX',
        8: stamp(ms, own),
        12: ei(number),
        13: ei(parent),
        17: status,
        19: event === 'T11' ? 'CA' : 'AV',
      });
      const lines = [`EVN||${stamp(ms, own)}`, pidOf(of, listOf('transcription', [[authority, value]]), {}), txa];
      const obx = event === 'T11' ? [] : [`OBX|1|TX|t||Document ${token2}`];
      emit('transcription', `MDM^${event}`, of, ms, [...lines, ...obx], {
        numbers: [`${authority} ${value}`],
        facts,
        admission: null,
        isUncertain: false,
      });
    };
    const number = `DOC${(things += 1)}`;
    const first = thing('document');
    let token1 = next();
    say('T02', number, '', [{ of: first, token: token1, state: 'preliminary' }], 'DO', token1);
    for (let at = 0; at < below(2); at += 1) {
      token1 = next();
      say('T08', number, '', [{ of: first, token: token1, state: 'final' }], 'AU', token1);
    }
    const token2 = next();
    const more = thing('document');
    const which = pick('T06', 'T10', 'T11', 'none');
    if (which === 'T06') say('T06', `${number}A`, number, [{ of: more, token: token2, state: 'final' }], 'AU', token2);
    if (which === 'T10') {
      const gone: Fact = { of: first, token: token1, state: 'withdrawn' };
      say('T10', `${number}R`, number, [{ of: more, token: token2, state: 'final' }, gone], 'AU', token2);
    }
    if (which === 'T11') say('T11', number, '', [{ of: first, token: token1, state: 'withdrawn' }], '', token1);
  };

  const clinical = (of: Person): void => {
    const kinds = [panel, panel, panel, culture, textReport, tolerance, pointOfCare, documents];
    for (let at = 0; at < 1 + below(3); at += 1) pick(...(kinds as [typeof panel]))(of);
  };

  const allergy = (): { lines: string[]; facts: Fact[] } => {
    const value = next();
    return { lines: [`AL1|1|DA|${value}^Drug^L|MO`], facts: [{ of: thing('allergy'), token: value, state: 'final' }] };
  };

  // --- What happens to people.

  const north = (of: Person): Numbers => [
    ['NORTH', of.numbers.NORTH ?? ''],
    ...(of.numbers.EPI === undefined ? [] : [['EPI', of.numbers.EPI] as const]),
  ];
  const south = (of: Person): Numbers => [
    ['SOUTH', of.numbers.SOUTH ?? ''],
    ...(of.numbers.EPI === undefined ? [] : [['EPI', of.numbers.EPI] as const]),
  ];
  const atNorth = (of: Partial<Person> = {}): Person =>
    person({ ...of, numbers: { NORTH: numberAt('NORTH'), ...(chance(0.3) && { EPI: numberAt('EPI') }) } });

  const scenes: readonly (() => void)[] = [
    function outpatient() {
      const one = atNorth();
      adt('northAdt', pick('A04', 'A01', 'A28'), one, north(one), chance(0.5) ? allergy() : {});
      clinical(one);
      if (chance(0.5)) adt('northAdt', 'A08', one, north(one), chance(0.3) ? allergy() : {});
      if (chance(0.5)) clinical(one);
    },
    function bothHospitals() {
      const one = person({ numbers: { NORTH: numberAt('NORTH'), SOUTH: numberAt('SOUTH'), EPI: numberAt('EPI') } });
      adt('northAdt', 'A04', one, north(one), allergy());
      clinical(one);
      adt('southAdt', 'A01', one, south(one), chance(0.5) ? allergy() : {});
      clinical(one);
      adt(
        pick('northAdt', 'southAdt'),
        'A31',
        one,
        chance(0.5) ? [...north(one), ...south(one).slice(0, 1)] : north(one),
      );
    },
    function strangersInTwoHospitals() {
      const one = person({ numbers: { NORTH: numberAt('NORTH') } });
      given.SOUTH = Math.max(given.SOUTH, Number(one.numbers.NORTH) - 1);
      const other = person({ numbers: { SOUTH: numberAt('SOUTH') } });
      adt('northAdt', 'A04', one, north(one));
      clinical(one);
      adt('southAdt', 'A04', other, south(other));
      clinical(other);
    },
    function registeredTwice() {
      const one = person({ numbers: { NORTH: numberAt('NORTH') } });
      const [first, second] = [one.numbers.NORTH ?? '', numberAt('NORTH')];
      adt('northAdt', 'A04', one, [['NORTH', first]], allergy());
      panel(one, () => ['NORTH', first]);
      adt('northAdt', 'A04', one, [['NORTH', second]], chance(0.5) ? allergy() : {});
      panel(one, () => ['NORTH', second]);
      adt('northAdt', pick('A40', 'A34', 'A18', 'A40'), one, [['NORTH', first]], { merged: [['NORTH', second]] });
      panel(one, () => ['NORTH', pick(first, second)]);
      if (chance(0.5)) adt('northAdt', 'A08', one, [['NORTH', first]]);
    },
    function mergedBackwards() {
      const one = person({ numbers: { NORTH: numberAt('NORTH') } });
      const [first, second] = [one.numbers.NORTH ?? '', numberAt('NORTH')];
      adt('northAdt', 'A04', one, [['NORTH', first]]);
      adt('northAdt', 'A04', one, [['NORTH', second]], allergy());
      const known = pick(first, second);
      panel(one, () => ['NORTH', known]);
      adt('northAdt', 'A40', one, [['NORTH', first]], { merged: [['NORTH', second]] });
      adt('northAdt', 'A40', one, [['NORTH', second]], { merged: [['NORTH', first]] });
      panel(one, () => ['NORTH', pick(first, second)]);
      adt('northAdt', 'A08', one, [['NORTH', second]]);
    },
    function renumbered() {
      const one = person({ numbers: { NORTH: numberAt('NORTH') } });
      const [old, now] = [one.numbers.NORTH ?? '', numberAt('NORTH')];
      if (chance(0.8)) adt('northAdt', 'A04', one, [['NORTH', old]], allergy());
      panel(one, () => ['NORTH', old]);
      adt('northAdt', pick('A47', 'A46'), one, [['NORTH', now]], { merged: [['NORTH', old]] });
      panel(one, () => ['NORTH', chance(0.3) ? old : now]);
      adt('northAdt', 'A08', one, [['NORTH', now]]);
    },
    function renumberedAndMerged() {
      const one = person({ numbers: { NORTH: numberAt('NORTH') } });
      const [first, old, now] = [one.numbers.NORTH ?? '', numberAt('NORTH'), numberAt('NORTH')];
      adt('northAdt', 'A04', one, [['NORTH', first]]);
      adt('northAdt', 'A04', one, [['NORTH', old]], allergy());
      const known = pick(first, old);
      panel(one, () => ['NORTH', known]);
      adt('northAdt', pick('A47', 'A46'), one, [['NORTH', now]], { merged: [['NORTH', old]] });
      adt('northAdt', 'A40', one, [['NORTH', first]], { merged: [['NORTH', pick(old, now)]] });
      panel(one, () => ['NORTH', pick(first, old, now)]);
      adt('northAdt', 'A08', one, [['NORTH', first]]);
    },
    function trauma() {
      const one = person({ numbers: { NORTH: numberAt('NORTH') } });
      const [provisional, own] = [one.numbers.NORTH ?? '', numberAt('NORTH')];
      const shown = {
        name: `TRAUMA^${pick('ALPHA', 'DELTA', 'OSCAR')}`,
        born: pick('', '19000101'),
        isUncertain: true,
      };
      adt('northAdt', 'A01', one, [['NORTH', provisional]], shown);
      const value = next();
      const result = thing('result');
      const order = (status: 'P' | 'F', to: number): Order => ({
        filler: `F${result.slice(7)}`,
        collected: clockMs,
        status,
        observed: [{ code: 'HB', status, value: `${to}` }],
      });
      const collected = clockMs;
      oru(
        'chemistry',
        one,
        ['NORTH', provisional],
        [{ ...order('P', value), collected }],
        [{ of: result, token: value, state: 'preliminary' }],
        shown,
      );
      if (chance(0.6)) {
        if (chance(0.5)) adt('northAdt', 'A04', one, [['NORTH', own]], allergy());
        adt('northAdt', 'A40', one, [['NORTH', own]], { merged: [['NORTH', provisional]] });
      } else adt('northAdt', 'A08', one, [['NORTH', provisional]]);
      const last = next();
      oru(
        'chemistry',
        one,
        ['NORTH', provisional],
        [{ ...order('F', last), collected }],
        [{ of: result, token: last, state: 'final' }],
        chance(0.5) ? shown : {},
      );
    },
    function twins() {
      const mother = atNorth({ sex: 'F', born: '19950512' });
      const born = '20260326';
      const [first = '', second = ''] = pick(['Amy', 'Eve'], ['Mary Ann', 'Mary Jane'], ['Mia', 'Mila']);
      const way = pick(...(NEWBORN_NAMES as [string]));
      const hasOrder = chance(0.5);
      const children = ['1', '2'].map((order) =>
        person({
          family: mother.family,
          given: order === '1' ? first : second,
          sex: 'F',
          born,
          numbers: { NORTH: numberAt('NORTH') },
          ...(hasOrder && { order }),
          ...(chance(0.5) && { mother }),
        }),
      );
      const place = pick('none', 'after', 'before');
      const isMotherFirst = chance(0.7);
      const admitMother = (): void => adt('northAdt', 'A01', mother, north(mother));
      if (isMotherFirst) admitMother();
      const provisional = (at: number): string =>
        way === ''
          ? mother.family
          : `${mother.family}^${way
              .replace('{mother}', mother.given.toUpperCase())
              .replace('{order}', `${at + 1}`)
              .replace('{letter}', 'AB'.charAt(at))}`;
      for (const [at, child] of children.entries()) {
        const own = north(child);
        const of = north(mother).slice(0, 1);
        const numbers =
          place === 'after' ? [...own, ...of] : place === 'before' && isMotherFirst ? [...of, ...own] : own;
        const ms = messages.length;
        adt('northAdt', 'A28', child, numbers, {
          name: provisional(at),
          isUncertain: true,
          ...(chance(0.3) && allergy()),
        });
        // The number of the mother is not the child's.
        const said = messages[ms];
        if (said !== undefined) messages[ms] = { ...said, numbers: named(own) };
      }
      for (const [at, child] of children.entries()) {
        panelOf(child, chance(0.5) ? { name: provisional(at), isUncertain: true } : {});
      }
      if (!isMotherFirst) admitMother();
      panel(mother);
      for (const child of children) {
        if (chance(0.7)) adt('northAdt', 'A08', child, north(child));
        if (chance(0.5)) clinical(child);
      }
    },
    function fatherAndSon() {
      const father = atNorth({ sex: 'M', born: '19600102' });
      const son = atNorth({ sex: 'M', family: father.family, given: father.given, born: '19890102' });
      for (const one of [father, son]) {
        adt('northAdt', 'A04', one, north(one), allergy());
        clinical(one);
      }
      accession([father, son]);
    },
    function marries() {
      const one = atNorth({ sex: 'F' });
      adt('northAdt', 'A04', one, north(one));
      const before = xpn(one);
      panelOf(one, {});
      one.family = `${one.family}-Adler`;
      adt('northAdt', 'A08', one, north(one));
      panelOf(one, chance(0.5) ? { name: before, isUncertain: true } : {});
      clinical(one);
    },
    function mistyped() {
      const one = atNorth();
      const born = one.born.replace(/(..)(..)$/, '$2$1');
      adt('northAdt', 'A04', one, north(one), {
        born: /^....(?:0[1-9]|1[0-2])..$/.test(born) ? born : one.born,
        isUncertain: true,
      });
      clinical(one);
      adt('northAdt', 'A08', one, north(one));
      clinical(one);
    },
    function accessions() {
      const one = atNorth();
      const other = atNorth();
      adt('northAdt', 'A04', one, north(one));
      adt('northAdt', 'A04', other, north(other));
      accession(chance(0.5) ? [one, other] : [one, one]);
    },
    function resultsFirst() {
      const one = person({ numbers: { NORTH: numberAt('NORTH'), EPI: numberAt('EPI') } });
      if (chance(0.5)) adt('northAdt', 'A04', one, [['EPI', one.numbers.EPI ?? '']]);
      panel(one);
      documents(one);
      adt('northAdt', 'A04', one, north(one), allergy());
      panel(one);
    },
  ];

  function panelOf(of: Person, shown: Shown): void {
    const value = next();
    const order: Order = {
      filler: `F${(things += 1)}`,
      collected: later(30),
      status: 'F',
      observed: [{ code: 'BILI', status: 'F', value: `${value}` }],
    };
    const number = anyNumber(of);
    oru(laboratoryOf(number), of, number, [order], [{ of: thing('result'), token: value, state: 'final' }], shown);
  }

  for (let at = 0; at < size; at += 1) {
    clockMs = MORNING_MS + below(2 * 24 * 60) * MINUTE_MS;
    const scene = scenes[below(scenes.length)];
    scene?.();
  }
  return { messages: messages.toSorted((a, b) => a.ms - b.ms), isNamed };
}
