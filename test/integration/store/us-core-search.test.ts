/**
 * Random US Core searches for random resources on PostgreSQL, compared with a model of R4's rules in memory. The model is
 * written from the standard alone (FHIR R4 search, 3.1.1.4.5, 3.1.1.4.6, 3.1.1.4.8 to 3.1.1.4.12).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { searchRequest } from '../../../edge/fhir/search/request.ts';
import { inSite } from '../../../edge/store/in-site.ts';
import { toPage } from '../../../edge/store/page.ts';
import { toWrite, writeResources } from '../../../edge/store/resource.ts';
import type { Position } from '../../../edge/store/search/page-selection.ts';
import { searchCount, searchPage } from '../../../edge/store/search/search.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import { createSite } from '../../stack/services/seed.ts';
import { useTestDatabase, ownerDatabase } from '../../stack/tools/database.ts';
import { sized } from '../../stack/tools/size.ts';

const db = await useTestDatabase();
const database = ownerDatabase(db);

// oxlint-disable-next-line typescript/no-explicit-any
type Resource = Record<string, any>;
type Range = readonly [from: number, before: number];
const NOW = Date.parse('2026-06-01T00:00:00Z');

/** Milliseconds by which a zone's clocks are ahead of UTC at an instant. */
function aheadAt(zone: string, at: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const [year, month, day, hour, minute, second] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  );
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}
/** The instant at which a zone's clocks show this. */
function atClock(zone: string, shown: number): number {
  const estimate = shown - aheadAt(zone, shown);
  return shown - aheadAt(zone, estimate);
}

/** The range of a date as it is written. @param zone of the site */
function rangeOf(text: string, zone: string): Range {
  const [, day = '', time, offset] = /^([\d-]+)(?:T([\d:.]+))?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const [year = 0, month, date] = day.split('-').map(Number);
  const [hour = 0, minute = 0, second] = (time ?? '').split(':').filter(Boolean).map(Number);
  const from = Date.UTC(year, (month ?? 1) - 1, date ?? 1, hour, minute, Math.floor(second ?? 0));
  const before =
    time !== undefined
      ? from + (second === undefined ? 60_000 : 1000)
      : Date.UTC(
          month === undefined ? year + 1 : year,
          date === undefined ? (month ?? 1) : (month ?? 1) - 1,
          date === undefined ? 1 : date + 1,
        );
  const end = month === undefined ? Date.UTC(year + 1, 0, 1) : before;
  if (offset === undefined) return [atClock(zone, from), atClock(zone, end)];
  const minutes =
    offset === 'Z'
      ? 0
      : (offset.startsWith('-') ? -1 : 1) * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4)));
  return [from - minutes * 60_000, end - minutes * 60_000];
}

/** R4's table of prefixes. */
function compares(prefix: string, [a, b]: Range, [s, e]: Range): boolean {
  const contained = a >= s && b <= e;
  switch (prefix) {
    case 'ne':
      return !contained;
    case 'gt':
      return b > e;
    case 'ge':
      return b > e || contained;
    case 'lt':
      return a < s;
    case 'le':
      return a < s || contained;
    case 'sa':
      return a >= e;
    case 'eb':
      return b <= s;
    default:
      return contained;
  }
}

const simple = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ł', 'l');
type Coded = readonly [system: string, code: string];
const codings = (...concepts: Resource[]): Coded[] =>
  concepts.flatMap((concept) => concept?.['coding'] ?? []).map(({ system = '', code = '' }) => [system, code]);
const periodRange = ({ start, end }: Resource, zone: string): Range => [
  start === undefined ? -Infinity : rangeOf(start, zone)[0],
  end === undefined ? Infinity : rangeOf(end, zone)[1],
];
const dated = (resource: Resource, element: string, zone: string): Range[] => [
  ...[resource[`${element}DateTime`], resource[element]]
    .filter((one) => typeof one === 'string')
    .map((one) => rangeOf(one, zone)),
  ...[resource[`${element}Period`]].filter(Boolean).map((one) => periodRange(one, zone)),
];

/** The values of each parameter in a resource. */
const VALUES: Readonly<
  Record<
    string,
    (resource: Resource, zone: string) => { tokens?: Coded[]; texts?: string[]; dates?: Range[]; ids?: string[] }
  >
> = {
  'Observation.code': (r) => ({ tokens: codings(r['code']) }),
  'Observation.category': (r) => ({ tokens: codings(...(r['category'] ?? [])) }),
  'Observation.status': (r) => ({ tokens: [['http://hl7.org/fhir/observation-status', r['status']]] }),
  'Observation.date': (r, zone) => ({ dates: dated(r, 'effective', zone) }),
  'Observation.subject': (r) => ({ ids: r['subject'] === undefined ? [] : [r['subject'].reference] }),
  'Condition.onset-date': (r, zone) => ({ dates: dated(r, 'onset', zone) }),
  'Condition.recorded-date': (r, zone) => ({ dates: dated(r, 'recordedDate', zone) }),
  'Condition.category': (r) => ({ tokens: codings(...(r['category'] ?? [])) }),
  'Condition.clinical-status': (r) => ({ tokens: codings(r['clinicalStatus']) }),
  'Patient.family': (r) => ({ texts: (r['name'] ?? []).flatMap((one: Resource) => one['family'] ?? []) }),
  'Patient.given': (r) => ({ texts: (r['name'] ?? []).flatMap((one: Resource) => one['given'] ?? []) }),
  // A day is a day in every zone.
  'Patient.birthdate': (r) => ({ dates: r['birthDate'] === undefined ? [] : [rangeOf(r['birthDate'], 'UTC')] }),
  'Patient.gender': (r) => ({
    tokens: r['gender'] === undefined ? [] : [['http://hl7.org/fhir/administrative-gender', r['gender']]],
  }),
};

/** A stored resource. */
interface Made {
  readonly id: string;
  readonly resource: Resource;
}

/** @param all the resources of the site */
function meetsWith(type: string, { id, resource }: Made, [name, value]: Pair, zone: string, all: Made[]): boolean {
  const [, chained] = /^(?:patient|subject)(?::Patient)?\.(.+)$/.exec(name) ?? [];
  const [, from, has] = /^_has:(\w+):(?:patient|subject):(.+)$/.exec(name) ?? [];
  if (chained !== undefined) {
    const patient = all.find((one) => `Patient/${one.id}` === resource['subject']?.reference);
    return patient !== undefined && meets('Patient', patient.resource, [chained, value], zone);
  }
  if (from === undefined || has === undefined) return meets(type, resource, [name, value], zone);
  return all.some(
    (one) =>
      one.resource['resourceType'] === from &&
      one.resource['subject']?.reference === `Patient/${id}` &&
      meets(from, one.resource, [has, value], zone),
  );
}

function meets(type: string, resource: Resource, [parameter, value]: Pair, zone: string): boolean {
  const [name = '', modifier] = parameter.split(':');
  const found = VALUES[`${type}.${name}`]?.(resource, zone) ?? {};
  const { tokens = [], texts = [], dates = [], ids = [] } = found;
  if (modifier === 'missing')
    return (tokens.length + texts.length + dates.length + ids.length === 0) === (value === 'true');
  const any = value.split(',').some((one) => {
    if (found.tokens !== undefined) {
      const [system, code] = one.includes('|') ? one.split('|') : [null, one];
      return tokens.some(([s, c]) => (system === null || system === s) && (code === '' || code === c));
    }
    if (found.texts !== undefined)
      return texts.some((text) =>
        modifier === 'exact'
          ? text === one
          : modifier === 'contains'
            ? simple(text).includes(simple(one))
            : simple(text).startsWith(simple(one)),
      );
    if (found.ids !== undefined) return ids.includes(one);
    const prefix = /^[a-z]{2}/.exec(one)?.[0] ?? 'eq';
    const asked = rangeOf(one.replace(/^[a-z]{2}/, ''), name === 'birthdate' ? 'UTC' : zone);
    return dates.some((range) => compares(prefix, range, asked));
  });
  return modifier === 'not' ? !any : any;
}

type Pair = readonly [name: string, value: string];

const some = <T>(...values: T[]) => fc.constantFrom(...values);
const option = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 4 });
/** Few days, about the turns of a year and of New York's clocks, so that ranges touch, and the last that FHIR can write. */
const day = some('2025-12-31', '2026-01-01', '2026-03-07', '2026-03-08', '2026-03-09', '2026-11-01', '9999-12-31');
const zoned = fc
  .tuple(
    day,
    some('T00:00:00', 'T04:59:59', 'T05:00:00', 'T12:30:00', 'T23:59:59'),
    some('Z', '-05:00', '-04:00', '+13:00'),
  )
  .map((parts) => parts.join(''));
const partial = fc.oneof(
  day,
  day.map((one) => one.slice(0, 7)),
  some('2025', '2026', '9999'),
);
const stored = fc.oneof(partial, zoned);
const asked = fc.oneof(
  partial,
  zoned,
  day.map((one) => `${one}T12:30`),
  day.map((one) => `${one}T12:30Z`),
);
const prefix = some('', 'eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb');
const period = fc
  .record({ start: option(stored), end: option(stored) })
  .filter(({ start, end }) => (start ?? end) !== undefined)
  // In all zones it begins before it ends: FHIR R4 datatypes, per-1.
  .filter(
    ({ start = '2000', end = '2100' }) =>
      rangeOf(end, 'UTC')[1] - rangeOf(start, 'UTC')[0] > (start === end ? 0 : 36 * 3_600_000),
  );
const concept = (...codes: string[]) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .array(fc.record({ system: option(some('urn:a', 'urn:b')), code: some(...codes) }), {
          minLength: 1,
          maxLength: 2,
        })
        .map((coding) => ({ coding })),
    },
    { weight: 1, arbitrary: fc.constant({ text: 'in words' }) },
  );
const NAMES = ['Müller', 'muller', 'Mull', 'van der Berg', 'Berg', 'O%Neil', 'a_b', 'Łukasz'];
const without = (resource: Resource): Resource =>
  Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined));

/** The values of a resource, or of a choice, which has at most one. */
const choice = (element: string) =>
  fc.oneof(
    stored.map((one) => ({ [`${element}DateTime`]: one })),
    period.map((one) => ({ [`${element}Period`]: one })),
    fc.constant({}),
  );

const RESOURCES: Readonly<Record<'Patient' | 'Observation' | 'Condition', fc.Arbitrary<Resource>>> = {
  Patient: fc.record({
    name: option(
      fc.array(
        fc
          .record({
            family: option(some(...NAMES)),
            given: option(fc.array(some(...NAMES), { minLength: 1, maxLength: 2 })),
          })
          .map(without),
        { minLength: 1, maxLength: 2 },
      ),
    ),
    birthDate: option(partial),
    gender: option(some('male', 'female', 'unknown')),
  }),
  Observation: fc
    .record({
      status: some('final', 'preliminary', 'amended'),
      code: concept('x', 'y'),
      category: option(fc.array(concept('laboratory', 'vital-signs'), { minLength: 1, maxLength: 2 })),
      effective: choice('effective'),
    })
    .map(({ effective, ...rest }) => ({ ...rest, ...effective })),
  Condition: fc
    .record({
      clinicalStatus: option(concept('active', 'resolved')),
      category: option(fc.array(concept('problem-list-item'), { minLength: 1, maxLength: 1 })),
      recordedDate: option(stored),
      onset: choice('onset'),
    })
    .map(({ onset, ...rest }) => ({ ...rest, ...onset })),
};

const dates = (name: string, value = asked) =>
  fc
    .array(
      fc.tuple(prefix, value).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 2 },
    )
    .map((all): Pair => [name, all.join(',')]);
const tokenOf = (name: string, system: string, ...codes: string[]) =>
  fc
    .tuple(
      some('', ':not'),
      fc.array(
        fc.tuple(some('', `${system}|`, '|', 'urn:b|'), some(...codes, 'nobody')).map((parts) => parts.join('')),
        { minLength: 1, maxLength: 2 },
      ),
    )
    .map(([modifier, values]): Pair => [name + modifier, values.join(',')]);
const missing = (...names: string[]) =>
  fc.tuple(some(...names), some('true', 'false')).map(([name, value]): Pair => [`${name}:missing`, value]);
const text = (name: string) =>
  fc
    .tuple(some('', ':exact', ':contains'), some(...NAMES, 'mül', 'BER', 'er', '%', '_', 'ł'))
    .map(([modifier, value]): Pair => [name + modifier, value]);

const OWN: Readonly<Record<keyof typeof RESOURCES, fc.Arbitrary<Pair>>> = {
  Patient: fc.oneof(
    text('family'),
    text('given'),
    dates('birthdate', partial),
    tokenOf('gender', 'http://hl7.org/fhir/administrative-gender', 'male', 'female').filter(
      ([, value]) => !/(?:^|,)\|/.test(value),
    ),
    missing('family', 'given', 'birthdate', 'gender'),
  ),
  Observation: fc.oneof(
    dates('date'),
    tokenOf('code', 'urn:a', 'x', 'y'),
    tokenOf('category', 'urn:a', 'laboratory', 'vital-signs'),
    tokenOf('status', 'http://hl7.org/fhir/observation-status', 'final', 'amended'),
    some<Pair>(['subject', 'P0'], ['subject', 'P1']),
    missing('date', 'code', 'category', 'status', 'subject'),
  ),
  Condition: fc.oneof(
    dates('onset-date'),
    dates('recorded-date'),
    tokenOf('clinical-status', 'urn:a', 'active', 'resolved'),
    missing('onset-date', 'recorded-date', 'category', 'clinical-status'),
  ),
};

const chain = fc
  .tuple(some('patient.', 'subject.', 'patient:Patient.', 'subject:Patient.'), OWN.Patient)
  .map(([reference, [name, value]]): Pair => [reference + name, value]);
const reverse = fc.oneof(
  ...(['Observation', 'Condition'] as const).map((type) =>
    OWN[type]
      .filter(([name]) => !/:|subject/.test(name))
      .map(([name, value]): Pair => [`_has:${type}:patient:${name}`, value]),
  ),
);
const PARAMETERS: typeof OWN = {
  Patient: fc.oneof({ weight: 3, arbitrary: OWN.Patient }, { weight: 2, arbitrary: reverse }),
  Observation: fc.oneof({ weight: 3, arbitrary: OWN.Observation }, { weight: 1, arbitrary: chain }),
  Condition: fc.oneof({ weight: 3, arbitrary: OWN.Condition }, { weight: 1, arbitrary: chain }),
};

const SORTS: Readonly<Record<keyof typeof RESOURCES, readonly string[]>> = {
  Patient: [],
  Observation: ['date', '-date'],
  Condition: ['onset-date', '-onset-date', 'recorded-date', '-recorded-date,-_id'],
};

/** By the beginning, where a date without a zone counts as of UTC, then by id; resources without the date are last. */
function inOrder(type: string, made: readonly { id: string; resource: Resource }[], by: string): string[] {
  const sign = by.startsWith('-') ? -1 : 1;
  const name = by.replace(/^-|,.*/g, '');
  const each = made.map(({ id, resource }) => {
    const [range] = VALUES[`${type}.${name}`]?.(resource, 'UTC').dates ?? [];
    return { id, at: range?.[0] };
  });
  const compare = (a: number | string, b: number | string): number => (a < b ? -sign : Number(a > b) * sign);
  return each
    .toSorted((a, b) => {
      if (a.at === undefined || b.at === undefined)
        return Number(a.at === undefined) - Number(b.at === undefined) || compare(a.id, b.id);
      return compare(a.at, b.at) || compare(a.id, b.id);
    })
    .map(({ id }) => id);
}

const ZONES = [null, 'America/New_York', 'Pacific/Auckland', 'No/Such_Zone'];
const QUERIES = 12;

test.each(['Patient', 'Observation', 'Condition'] as const)(
  'random searches of %s find what R4 says',
  async (type) => {
    let asked = 0;
    let found = 0;
    await fc.assert(
      fc.asyncProperty(
        some(...ZONES),
        fc.array(fc.tuple(RESOURCES[type], some(undefined, 0, 1)), { minLength: 5, maxLength: 25 }),
        fc.record({
          patients: fc.tuple(RESOURCES.Patient, RESOURCES.Patient),
          about: fc.array(
            fc.tuple(
              fc.oneof(
                RESOURCES.Observation.map((one) => ({ resourceType: 'Observation', ...one })),
                RESOURCES.Condition.map((one) => ({ resourceType: 'Condition', ...one })),
              ),
              fc.nat(),
            ),
            { minLength: 2, maxLength: 12 },
          ),
        }),
        fc.array(fc.array(PARAMETERS[type], { minLength: 1, maxLength: 3 }), {
          minLength: QUERIES,
          maxLength: QUERIES,
        }),
        async (timeZone, contents, { patients: two, about: related }, queries) => {
          const site = await createSite(db.client, timeZone === null ? {} : { timeZone });
          const patients = [0, 1].map(() => uuidv7(NOW));
          const reference = (n: number) => ({ reference: `Patient/${patients[n]}` });
          const made = contents.map(([content, n]) => {
            const about = type === 'Observation' && n !== undefined ? { subject: reference(n) } : {};
            const required = type === 'Condition' ? { subject: reference(0) } : {};
            return { id: uuidv7(NOW), resource: without({ resourceType: type, ...content, ...about, ...required }) };
          });
          const others: Made[] =
            type === 'Patient'
              ? related.map(([resource, n]) => ({
                  id: uuidv7(NOW),
                  resource: without({ ...resource, subject: { reference: `Patient/${made[n % made.length]?.id}` } }),
                }))
              : patients.map((id, n) => ({ id, resource: without({ resourceType: 'Patient', ...two[n] }) }));
          await inSite(database, site).run(
            writeResources(
              site,
              [...others, ...made].map(({ id, resource }) => toWrite(resource, id, 'create')),
            ),
          );
          const zone = timeZone === null || timeZone === 'No/Such_Zone' ? 'UTC' : timeZone;
          for (const query of queries) {
            const pairs = query.map(([name, value]): Pair => [
              name,
              value.replace(/^P([01])$/, (_, n) => reference(Number(n)).reference),
            ]);
            const expected = made.filter((one) =>
              pairs.every((pair) => meetsWith(type, one, pair, zone, [...others, ...made])),
            );
            expect({ pairs, ids: await search(site, type, pairs) }).toEqual({
              pairs,
              ids: expected.map(({ id }) => id).toSorted(),
            });
            const by = SORTS[type][asked % SORTS[type].length];
            if (by !== undefined)
              expect({ pairs, by, ids: await pagesBy(site, type, pairs, by) }).toEqual({
                pairs,
                by,
                ids: inOrder(type, expected, by),
              });
            asked += 1;
            if (expected.length > 0 && expected.length < made.length) found += 1;
          }
        },
      ),
      // To shrink a counterexample takes minutes on a database; the message has the seed.
      { numRuns: sized(8, 400), endOnFailure: true },
    );
    // Queries that find some resources, but not all, distinguish the rules.
    expect(found / asked).toBeGreaterThan(0.2);
  },
  sized(120_000, 900_000),
);

const request = (type: ResourceType, pairs: readonly Pair[]) => {
  const context = { root: 'https://fhir.test/fhir', now: NOW, searches: 'us-core', types: RESOURCE_TYPES } as const;
  return searchRequest(type, pairs, { handling: 'strict', return: 'representation' }, context);
};

/** The ids of all pages, of three each. */
async function pagesBy(site: string, type: ResourceType, pairs: readonly Pair[], by: string): Promise<string[]> {
  const { criteria, related, sort } = request(type, [...pairs, ['_sort', by]]);
  const ids: string[] = [];
  for (let after: Position | null = null; ;) {
    const [rows] = await inSite(database, site).batch([
      searchPage({ site, type, criteria, related, sort, after, limit: 3 }),
    ] as const);
    const { resources, more } = toPage(rows, 3);
    ids.push(...resources.map(({ id }) => id));
    const last = resources.at(-1);
    if (!more || last === undefined) return ids;
    after = { key: last.sort_key, id: last.id };
  }
}

async function search(site: string, type: ResourceType, pairs: readonly Pair[]): Promise<string[]> {
  const { criteria, related, sort } = request(type, pairs);
  const selection = { site, type, criteria, related, sort, after: null, limit: 100 };
  const [rows, [count]] = await inSite(database, site).batch([
    searchPage(selection),
    searchCount(site, type, criteria, related),
  ] as const);
  const ids = toPage(rows, 100).resources.map(({ id }) => id);
  expect(count?.total).toBe(ids.length);
  expect(ids).toEqual(ids.toSorted());
  return ids;
}
