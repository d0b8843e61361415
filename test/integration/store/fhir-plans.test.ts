/**
 * An index serves every parameter of the specification and of US Core, in a site with many patients and in a small site among
 * many. The cost of a page depends on its rows, not on the size of the site.
 */
import { beforeAll, describe, expect, test } from 'vitest';

import type { Token } from '../../../edge/store/search/kind.ts';
import type { Criterion } from '../../../edge/store/search/kinds.ts';
import { CARE_TIME } from '../../../edge/store/search/kinds/date.ts';
import { fold, spellNames } from '../../../edge/store/search/fold.ts';
import type { Query } from '../../../edge/deps.ts';
import { parameter } from '../../../edge/platform/parameter.ts';
import { LIMITS } from '../../../edge/limits.ts';
import { everythingPage } from '../../../edge/store/everything.ts';
import { typeHistoryPage } from '../../../edge/store/type-history.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import type { PageSelection, Position, Related, Sort, SortKey } from '../../../edge/store/search/page-selection.ts';

import { lookUpResources } from '../../../edge/store/resource-lookup.ts';
import { searchCount, searchPage } from '../../../edge/store/search/search.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { createSite } from '../../stack/services/seed.ts';
import { GIVEN, populate } from '../../inputs/population.ts';
import { explain, planFor, planKept } from '../../stack/tools/plan.ts';
import { sized } from '../../stack/tools/size.ts';
import { withoutGuards } from '../../stack/tools/without-guards.ts';

// At full size, which takes minutes, the same is seen at a million patients and among a thousand sites.
const PATIENTS = sized(50_000, 1_000_000);
/**
 * PostgreSQL keeps the hundred most common values of a column. With few sites it would expect one row of a new one. With more it
 * would expect a share of all rows. It must not plan by either.
 */
const SMALL_SITES = sized(20, 1_000);
const UNKNOWN_PATIENTS = 10_000;

const db = await useTestDatabase();
/** Plans are made for the application, whose policies count. */
const application = await db.connect();
let large: string;
let small: string;
/** Filled after the statistics were made. */
let unknown: string;
/** A patient of each site with Observations and reports. */
const subjects = new Map<string, string>();

beforeAll(async () => {
  const { client } = db;
  await client.query(`set maintenance_work_mem = '256MB'`);
  await withoutGuards(client, async () => {
    large = await createSite(client);
    await populate(client, large, PATIENTS);
    for (let i = 0; i < SMALL_SITES; i += 1) await populate(client, (small = await createSite(client)), 10);
  });
  unknown = await createSite(client);
  await populate(client, unknown, UNKNOWN_PATIENTS);
  for (const site of [large, small, unknown]) {
    const { rows } = await client.query<{ id: string }>(
      `select patient_id as id from resource where site_id = $1 and type = 'DiagnosticReport' limit 1`,
      [site],
    );
    subjects.set(site, rows[0]?.id ?? '');
  }
}, 900_000);

const orderKey = (key: string): SortKey => ({
  by: key.replace(/^-/, '') as SortKey['by'],
  descending: key.startsWith('-'),
});
/** The order of the given keys; `-` is descending. */
const by = (first: string, ...ties: readonly string[]): Sort => ({
  ...orderKey(first),
  ...(ties.length > 0 && { ties: ties.map(orderKey) }),
});

/** The plans that a statement may get. */
const plansOf = ({ planAnew }: Query) => (planAnew === true ? [planFor] : [planFor, planKept]);

const BY_ID = by('id');
/** An equivalent order, in which the planner serves a search by key instead of fhir_find. */
const BY_ID_PLANNED = by('id', 'last-updated');
const token = (param: string, ...any: Token[]): Criterion => ({ kind: 'token', param, any });
const code = (value: string, system: string | null = null): Token => ({ system, value });
const name = (text: string): Criterion => ({ kind: 'name', fragments: [spellNames(fold(text))] });
const identifier = (value: string | null, system: string | null): Criterion => ({
  kind: 'identifier',
  any: [{ system, value }],
});

/**
 * Pages of 8 kB that one answer may touch: a dozen for each of 51 resources, and what leads to them. At a million patients the
 * indexes have one level more, so each look-up reads one page more.
 */
const MAX_PAGES = sized(620, 700);
/** To look up a part of a name in the index of trigrams, whose lists grow with the site. */
const TRIGRAM_PAGES = PATIENTS / 1_000;
/** To learn that more than 2,000 resources have a code (edge/store/search/list-or-walk.ts). */
const LISTED_PAGES = 500;
/**
 * To sort the resources with a rare code by date: a look-up of the date of each, and one for each criterion. One of 5,000 has
 * it.
 */
const DATED_PAGES = (3 * 5 * PATIENTS) / 5_000;
/** And rows: a page of a common name is found by walking some thousand patients. */
const MAX_ROWS = 5_000;
/**
 * PostgreSQL may look up each of the at most 2,000 patients whose given name begins so, and sort them. Otherwise it reads them
 * in the order of their ids, and stops when the page is full. Later versions than 16 choose by their sample of the table.
 */
const CANDIDATE_PAGES = 4_000;

const COMMON_CODE = token('code', code('common'));
const RARE_CODE = token('code', code('c7'));
const COMMON_OR_RARE = token('code', code('common'), code('c7'));
const LABORATORY = token('category', code('laboratory'));
const ACTIVE = token('clinical-status', code('active'));
const CHRISTMAS: Criterion = { kind: 'birthdate', dates: ['1974-12-25'] };
const MRN = identifier('MRN7', 'urn:mrn');
const UNUSED_CODES = Array.from({ length: 100 }, (_, at) => code(`unused${at}`));
const MANY_MRNS: Criterion = {
  kind: 'identifier',
  any: Array.from({ length: 20 }, (_, at) => ({ system: 'urn:mrn', value: `MRN${at * 97}` })),
};

const birth = (spans: readonly (readonly [string, string])[], ...among: string[]): Criterion => ({
  kind: 'birth-range',
  spans: spans.map(([from, before]) => ({ from, before, except: [] })),
  among,
  isApproximate: false,
});
const date = (prefix: string, from: string, before: string, param = 'date'): Criterion => ({
  kind: 'date',
  param,
  any: [{ prefix, range: { from: Date.parse(from), before: Date.parse(before), isLocal: true } }],
});
const part = (part: 'family' | 'given', match: 'beginning' | 'exact' | 'contains', text: string): Criterion => ({
  kind: 'name-part',
  part,
  match,
  any: [{ fragment: text, line: text }],
});
const missing = (param: string): Criterion => token('missing', code(param, ''));
const not = (criterion: Criterion): Criterion =>
  criterion.kind === 'not' ? criterion.of : { kind: 'not', of: criterion };
/** One of a site's first days, with results in sites of every size. */
const A_DAY = date('eq', '2020-01-01', '2020-01-02');
const DATES = /^resource_date_/;
/** More than are listed, and few among all. */
const NEWEST = new Date(Date.UTC(2020, 0, 1) + PATIENTS * 0.94 * 1_800_000).toISOString();
const SINCE_2020 = date('ge', '2020-01-01', '2020-01-02');
/** Half of all results of a large site. */
const SOME_YEARS = [date('ge', '2020-06-01', '2020-06-02'), date('lt', '2021-12-01', '2021-12-02')] as const;

/** A criterion, or one about the site's patient with results. */
type Part = Criterion | ((site: string) => Criterion);
const partsIn = (site: string, parts: readonly Part[]): Criterion[] =>
  parts.map((each) => (typeof each === 'function' ? each(site) : each));
const PATIENT: Part = (site) => ({ kind: 'patient', ids: [subjects.get(site) ?? ''] });

type Case = readonly [query: string, criteria: readonly Part[], index: string | RegExp, sort?: Sort];
const PATIENT_CASES: readonly Case[] = [
  ['', [], 'resource_pkey'],
  ['identifier=v', [identifier('MRN7', null)], 'resource_identifier_pkey', BY_ID_PLANNED],
  ['identifier=s|v', [MRN], 'resource_identifier_pkey', BY_ID_PLANNED],
  ['identifier=s|', [identifier(null, 'urn:mrn')], 'resource_identifier_system'],
  ['identifier=s|v, many', [MANY_MRNS], 'resource_identifier_pkey', BY_ID_PLANNED],
  ['identifier=s|v, many, newest first', [MANY_MRNS], 'resource_identifier_pkey', by('-id')],
  ['name=, selective', [name('fitzgerbrad')], /patient_search_(names|pkey)/, BY_ID_PLANNED],
  ['name=, one Chinese letter', [name('王')], /patient_search_(names|pkey)/, BY_ID_PLANNED],
  ['name=, common', [name('anna')], 'patient_search_pkey', BY_ID_PLANNED],
  ['name=, with birthdate', [name('fitz'), CHRISTMAS], /^patient_search_/],
  ['birthdate=', [CHRISTMAS], 'patient_search_birth_date'],
  ['gender=', [{ kind: 'gender', codes: ['male'] }], /patient_search_(gender|pkey)/],
  [
    '_lastUpdated=',
    [{ kind: 'last-updated', any: [{ from: '2026-01-01T00:00:03Z', before: '2026-01-01T00:00:09Z', outside: false }] }],
    'resource_last_updated',
  ],
  ['family=', [part('family', 'beginning', 'fitzgerbrad')], /patient_(name_pkey|search_names)/, BY_ID_PLANNED],
  ['family:exact=', [part('family', 'exact', 'fitzgerbrad')], 'patient_name_pkey'],
  [
    'given=&family=',
    [part('given', 'beginning', 'a'), part('family', 'beginning', 'fitzgerbrad')],
    'patient_name_pkey',
    BY_ID_PLANNED,
  ],
  ['given:contains=', [part('given', 'contains', 'imberl')], /patient_search_(names|pkey)/],
  ['given=, common', [part('given', 'beginning', 'anna')], /patient_search_(names|pkey)/, BY_ID_PLANNED],
  ['birthdate=1974-12', [birth([['1974-12', '1974-12.']])], 'patient_search_birth_date'],
  ['birthdate=gt', [birth([['1930-01-05', '~']], '1930')], /^patient_search_/],
  // For a more common beginning, the index of names and a walk of the ids cost the same, and ANALYZE's sample decides. One
  // in a thousand has `fitzger`, and at a million patients an answer then reads 1,600 or 6,900 pages.
  ['family=&birthdate=lt', [part('family', 'beginning', 'fitzgerbrad'), birth([['0', '1990']])], /^patient_search_/],
  ['_sort=-_lastUpdated', [], 'resource_last_updated', by('-last-updated')],
  ['_sort=name', [], 'patient_search_name_sort', by('name')],
  ['_sort=birthdate,name', [], 'patient_search_birth_date_name', by('birthdate', 'name')],
  ['_sort=-name,-_lastUpdated', [], 'patient_search_name_sort', by('-name', '-last-updated')],
  ['_sort=-_lastUpdated,name', [], 'resource_last_updated', by('-last-updated', 'name')],
  ['_sort=-birthdate', [], 'patient_search_birth_date', by('-birthdate')],
];
const OBSERVATION_CASES: readonly Case[] = [
  ['patient=', [PATIENT], 'resource_of_patient', BY_ID_PLANNED],
  ['code=, common', [COMMON_CODE], 'resource_token_pkey'],
  ['code=s|v', [token('code', code('common', 'urn:codes'))], 'resource_token_pkey'],
  ['code=s|', [token('code', { system: 'urn:codes', value: null })], 'resource_token_system'],
  ['code=v,v', [COMMON_OR_RARE], 'resource_token_pkey'],
  [
    'code=s|v,s|v, none of them used',
    [token('code', ...UNUSED_CODES.map(({ value }) => ({ value, system: 'urn:codes' })))],
    'resource_token_pkey',
  ],
  [
    'code=s|,s|v',
    [token('code', { system: 'urn:codes', value: null }, code('c7', 'urn:codes'))],
    'resource_token_system',
  ],
  [
    'category=v,v&code=v,v',
    [token('category', code('laboratory'), code('vital-signs')), COMMON_OR_RARE],
    'resource_token_pkey',
  ],
  ['patient=&code=', [PATIENT, COMMON_CODE], 'resource_of_patient', BY_ID_PLANNED],
  ['_id=', [(site) => ({ kind: 'id', ids: [subjects.get(site) ?? ''] })], 'resource_pkey'],
  ['date=, a day', [A_DAY], DATES],
  ['date=ge, nearly all', [SINCE_2020], DATES],
  ['date=lt, a few', [date('lt', '2020-01-01', '2020-01-02')], DATES],
  ['date=ge&date=lt', [date('ge', '2020-01-03', '2020-01-04'), date('lt', '2020-01-05', '2020-01-06')], DATES],
  ['patient=&date=', [PATIENT, SINCE_2020], 'resource_date_of_patient'],
  ['patient=&date=ge&date=lt', [PATIENT, ...SOME_YEARS], 'resource_date_of_patient'],
  ['patient=&date=lt', [PATIENT, SOME_YEARS[1]], 'resource_date_of_patient'],
  ['patient=&category=&status=', [PATIENT, LABORATORY, token('status', code('final'))], 'resource_of_patient'],
  ['code=&date=', [RARE_CODE, SINCE_2020], 'resource_token_pkey'],
  ['category=&date=, a day', [LABORATORY, A_DAY], DATES],
  ['category=', [token('category', code('vital-signs'))], 'resource_token_pkey'],
  ['status=', [token('status', code('final'))], 'resource_token_pkey'],
  ['category:not=', [not(token('category', code('vital-signs')))], 'resource_pkey'],
  ['patient=&status:not=', [PATIENT, not(token('status', code('final')))], 'resource_of_patient'],
  ['date:missing=true', [missing('date')], 'resource_token_pkey'],
  ['date:missing=false', [not(missing('date'))], 'resource_pkey'],
  ['_sort=-_lastUpdated,_id', [], 'resource_last_updated', by('-last-updated', 'id')],
];

/** Observations by date: newest first, and oldest first. */
const BY_DATE: readonly Sort[] = [true, false].map((descending) => ({ by: 'date', param: 'date', descending }));
const [NEWEST_FIRST = BY_ID, OLDEST_FIRST = BY_ID] = BY_DATE;
const DATED: readonly Case[] = [
  ['', [], /^resource_date_from/],
  ['patient=', [PATIENT], /^resource_date_of_patient/],
  ['patient=&code=', [PATIENT, COMMON_CODE], /^resource_date_of_patient/],
  ['patient=&category=&date=ge', [PATIENT, LABORATORY, SINCE_2020], /^resource_date_of_patient/],
  ['patient=&date=ge&date=lt', [PATIENT, ...SOME_YEARS], /^resource_date_of_patient/],
  ['patient=&date=lt', [PATIENT, SOME_YEARS[1]], /^resource_date_of_patient/],
  ['$docref, start=', [PATIENT, date('gt', '2020-01-01', '2020-01-01', CARE_TIME)], /^resource_date_of_patient/],
  ['code=', [RARE_CODE], /^resource_token_pkey/],
  ['code=, common', [COMMON_CODE], /^resource_date_from/],
  ['category=', [LABORATORY], /^resource_date_from/],
  ['category=&code=', [LABORATORY, RARE_CODE], /^resource_token_pkey/],
  ['category:not=', [not(token('category', code('vital-signs')))], /^resource_date_from/],
  ['date=, a day', [A_DAY], DATES],
  ['date:missing=true', [missing('date')], /^resource_token_pkey/],
];
const SORTED: readonly Case[] = BY_DATE.flatMap((sort) =>
  DATED.map(([query, criteria, index]): Case => {
    const order = `_sort=${sort.descending ? '-' : ''}date`;
    return [query === '' ? order : `${query}&${order}`, criteria, index, sort];
  }),
);

const CASES: Partial<Record<ResourceType, readonly Case[]>> = {
  Patient: PATIENT_CASES,
  Condition: [
    ['patient=', [PATIENT], 'resource_of_patient', BY_ID_PLANNED],
    ['clinical-status=', [ACTIVE], 'resource_token_pkey'],
    ['code=', [RARE_CODE], 'resource_token_pkey'],
    ['code=&clinical-status=', [COMMON_CODE, ACTIVE], 'resource_token_pkey'],
  ],
  Observation: [
    ...OBSERVATION_CASES,
    ...SORTED,
    ['date=ge, the newest&_sort=-date', [date('ge', NEWEST, NEWEST)], /^resource_date_from/, NEWEST_FIRST],
    ['date=ge&_sort=-date', [SINCE_2020], /^resource_date_from/, NEWEST_FIRST],
    ['date=lt&_sort=date', [SOME_YEARS[1]], /^resource_date_from/, OLDEST_FIRST],
  ],
  DocumentReference: [['type=', [token('type', code('c7'))], 'resource_token_pkey']],
  DiagnosticReport: [
    ['patient=', [PATIENT], 'study_of_patient'],
    ['status=', [{ kind: 'report-state', states: ['completed'] }], /^report_/],
  ],
};

const history = { type: 'Observation', after: null, since: null, limit: 50 } as const;
const everything = { types: RESOURCE_TYPES, after: null, since: null, limit: 50 } as const;
/** In the middle of all that there is. */
const MIDDLE = '2026-01-01T12:00:00.000Z';
const HISTORY = ['resource_last_updated', 'resource_history_last_updated'];
const PAGES: readonly (readonly [string, (site: string) => Query, needed: readonly string[]])[] = [
  ...BY_DATE.map(
    (sort) =>
      [
        `Observation?patient=&_sort=${sort.descending ? '-' : ''}date, a page in the middle`,
        (site: string) => {
          const after = { key: '2021-06-01 00:00:00+00', id: subjects.get(site) ?? '' };
          return searchPage({ site, type: 'Observation', criteria: partsIn(site, [PATIENT]), sort, after, limit: 50 });
        },
        ['resource_date_of_patient'],
      ] as const,
  ),
  ['Observation/_history', (site) => typeHistoryPage({ ...history, site }), HISTORY],
  [
    'Observation/_history, a page in the middle',
    (site) =>
      typeHistoryPage({ ...history, site, after: { lastUpdated: MIDDLE, id: subjects.get(site) ?? '', version: 1 } }),
    HISTORY,
  ],
  ['Observation/_history?_since=', (site) => typeHistoryPage({ ...history, site, since: MIDDLE }), HISTORY],
  [
    '$everything',
    (site) => everythingPage({ ...everything, site, patient: subjects.get(site) ?? '' }),
    ['resource_of_patient', 'resource_replaced_by'],
  ],
  [
    '$everything, a page in the middle',
    (site) => {
      const patient = subjects.get(site) ?? '';
      const types = RESOURCE_TYPES.slice(3);
      return everythingPage({ ...everything, site, patient, types, after: { type: 'Observation', id: patient } });
    },
    ['resource_of_patient', 'resource_replaced_by'],
  ],
  [
    '$everything?_since=',
    (site) => everythingPage({ ...everything, site, patient: subjects.get(site) ?? '', since: MIDDLE }),
    ['resource_of_patient', 'resource_replaced_by'],
  ],
];

const chained = (...criteria: Criterion[]): Related => ({ kind: 'chained', type: 'Patient', criteria });
const having = (...criteria: Criterion[]): Related => ({ kind: 'has', type: 'Observation', criteria });
const ABOUT = RESOURCE_TYPES.filter((type) => type !== 'Patient');
const page = { criteria: [], sort: BY_ID, after: null, limit: 50 } as const;
const BY_CODE = having(RARE_CODE);
type RelatedCase = readonly [query: string, Partial<PageSelection>, needed: readonly string[]];
const RELATED: Partial<Record<ResourceType, readonly RelatedCase[]>> = {
  Observation: [
    ['patient.identifier=', { related: [chained(MRN)] }, ['resource_identifier_pkey', 'resource_of_patient']],
    [
      'patient.identifier=&code=, common',
      { related: [chained(MRN)], criteria: [COMMON_CODE] },
      ['resource_identifier_pkey', 'resource_of_patient'],
    ],
    [
      'patient.identifier=&date=ge',
      { related: [chained(MRN)], criteria: [SINCE_2020] },
      ['resource_identifier_pkey', 'resource_date_of_patient'],
    ],
    [
      'patient.identifier=&_sort=-date',
      { related: [chained(MRN)], sort: NEWEST_FIRST },
      ['resource_identifier_pkey', 'resource_date_of_patient'],
    ],
    [
      'patient.identifier=&_sort=-_lastUpdated',
      { related: [chained(MRN)], sort: by('-last-updated') },
      ['resource_identifier_pkey', 'resource_of_patient'],
    ],
    ['patient.birthdate=', { related: [chained(CHRISTMAS)] }, ['resource_of_patient']],
    [
      'patient.family=&patient.birthdate=lt&code=',
      {
        related: [chained(part('family', 'beginning', 'fitzgerbrad'), birth([['0', '1990']]))],
        criteria: [COMMON_CODE],
      },
      ['resource_of_patient'],
    ],
  ],
  DiagnosticReport: [
    ['patient.identifier=', { related: [chained(MRN)] }, ['resource_identifier_pkey', 'study_of_patient']],
  ],
  Patient: [
    ['_has:Observation:patient:code=', { related: [BY_CODE] }, ['resource_token_pkey', 'resource_pkey']],
    [
      '_has:Observation:patient:code=, many',
      { related: [having(token('code', code('c7'), ...UNUSED_CODES))] },
      ['resource_token_pkey', 'resource_pkey'],
    ],
    [
      '_has:Observation:patient:code=s|v,s|v',
      { related: [having(token('code', code('c7', 'urn:codes'), code('unused', 'urn:codes')))] },
      ['resource_token_pkey', 'resource_pkey'],
    ],
    ['_has:Observation:patient:code=&_sort=name', { related: [BY_CODE], sort: by('name') }, ['resource_token_pkey']],
    ['_has:Observation:patient:code=&name=', { related: [BY_CODE], criteria: [name('anna')] }, ['resource_token_pkey']],
    ['_revinclude=, all types', { included: ABOUT }, ['resource_pkey', 'resource_of_patient']],
    [
      '_sort=name&_revinclude=',
      { included: ['Observation'], sort: by('name') },
      ['patient_search_name_sort', 'resource_of_patient'],
    ],
  ],
};
/** The cases of each type. */
const eachOf = <T>(cases: Partial<Record<ResourceType, readonly T[]>>) =>
  RESOURCE_TYPES.flatMap((type) => (cases[type] ?? []).map((each) => [type, each] as const));
/** Each resource that a `_has` finds is looked up, and each type of what refers to each patient of a page. */
const RELATED_PAGES = 5 * MAX_PAGES;
/** For each resource that a `_has` finds: two look-ups, of it and of its patient. */
const MATCH_PAGES = 12;
/** 1,000 Observations have one of them. */
const FOUND_CODES = Array.from({ length: 5_000_000 / PATIENTS }, (_, at) => `c${2 * at + 1}`);

describe.each<readonly [string, () => string]>([
  [`a site of ${PATIENTS} patients`, () => large],
  [`a site of ten among ${SMALL_SITES}`, () => small],
  ['a site that the statistics do not know', () => unknown],
])('%s', (_, site) => {
  for (const [type, [label, parts, index, sort = BY_ID]] of eachOf(CASES)) {
    test(`${type}?${label}`, async () => {
      const selection = { site: site(), type, criteria: partsIn(site(), parts), sort, after: null, limit: 50 };
      const query = searchPage(selection);
      const dated = /^(category=&)?code=&_sort/.test(label) ? DATED_PAGES : 0;
      const trigrams = /family=&birthdate/.test(label) ? TRIGRAM_PAGES : 0;
      // Each value of a list finds a page, whose resources are looked up for the other criterion.
      const values = /v,v&/.test(label) ? MAX_PAGES : 0;
      // The order begins with matches, so none are listed.
      const isListed = sort.param !== undefined && !/^date=(?:ge|lt)/.test(label);
      const listed = isListed ? LISTED_PAGES + dated : trigrams + values;
      const sorted = /given=, common/.test(label) ? CANDIDATE_PAGES : 0;
      const most = MAX_PAGES + listed + sorted;
      if (sort === BY_ID_PLANNED) {
        const found = searchPage({ ...selection, sort: BY_ID });
        // The first call also reads the catalog, to plan the statements of the function.
        await explain(application, site(), found);
        const byKey = await explain(application, site(), found);
        expect(byKey.functions).toEqual(['fhir_find']);
        expect(byKey.pages).toBeLessThan(most);
      }
      for (const planned of plansOf(query)) {
        const { indexes, whole, pages, rows } = await explain(application, site(), query, planned);
        expect(whole).toEqual([]);
        expect(pages).toBeLessThan(most);
        expect(rows).toBeLessThan(MAX_ROWS);
        expect(indexes.length).toBeGreaterThan(0);
        // In a small site any index of the site will do.
        if (site() === large) expect(indexes).toContainEqual(expect.stringMatching(index));
      }
    });
  }

  for (const [type, [label, more, needed]] of eachOf(RELATED)) {
    const selection = { ...page, ...more, type };
    const { criteria, related } = selection;
    const queries: readonly (readonly [string, (site: string) => Query])[] = [
      ['', (id) => searchPage({ ...selection, site: id })],
      ...(related === undefined
        ? []
        : [[', counted', (id: string) => searchCount(id, type, criteria, related)] as const]),
    ];
    for (const [as, query] of queries)
      test(`${type}?${label}${as}`, async () => {
        for (const planned of plansOf(query(site()))) {
          const { indexes, whole, pages, rows } = await explain(application, site(), query(site()), planned);
          expect(whole).toEqual([]);
          expect(pages).toBeLessThan(RELATED_PAGES);
          expect(rows).toBeLessThan(MAX_ROWS);
          if (site() === large && as === '') expect(indexes).toEqual(expect.arrayContaining([...needed]));
        }
      });
  }

  for (const [label, query, needed] of PAGES) {
    test(label, async () => {
      for (const planned of plansOf(query(site()))) {
        const { indexes, whole, pages, rows } = await explain(application, site(), query(site()), planned);
        expect(whole).toEqual([]);
        expect(pages).toBeLessThan(MAX_PAGES);
        expect(rows).toBeLessThan(MAX_ROWS);
        if (site() === large) expect(indexes).toEqual(expect.arrayContaining([...needed]));
      }
    });
  }
});

test('a page in the middle of the resources of one patient reads none before it', async () => {
  const { client } = db;
  const site = await createSite(client);
  const { rows } = await client.query<{ id: string }>(
    `with patient as (
       insert into resource (site_id, type, id, version, last_updated, meta, body)
       values ($1, 'Patient', gen_random_uuid(), 1, now(), '', '"active":true') returning id)
     insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
     select $1, 'Observation', gen_random_uuid(), 1, now(), '', '"status":"final"', patient.id
       from patient, generate_series(1, 20000) returning patient_id as id`,
    [site],
  );
  const criteria: readonly Criterion[] = [{ kind: 'patient', ids: [rows[0]?.id ?? ''] }];
  const after = { key: null, id: '80000000-0000-4000-8000-000000000000' };
  const query = searchPage({ site, type: 'Observation', criteria, sort: BY_ID, after, limit: 50 });
  // The first call also reads the catalog, to plan the statements of the function.
  await explain(application, site, query);
  expect((await explain(application, site, query)).pages).toBeLessThan(MAX_PAGES);
});

test('a kept plan computes the keys of several codes once, not for each row', async () => {
  const criteria = [PATIENT(large), token('code', ...FOUND_CODES.slice(0, 10).map((value) => code(value)))];
  const query = searchPage({ site: large, type: 'Observation', criteria, sort: BY_ID, after: null, limit: 50 });
  await explain(application, large, query);
  const { rows } = await planKept(application, query);
  // The function of the keys.
  expect(JSON.stringify(rows)).not.toMatch(/"(?:Filter|Index Cond)":"(?:[^"\\]|\\.)*md5/);
});

test('the Provenance of a page reads the audit only near each write', async () => {
  const { client } = db;
  // A busy day: 40 accesses each second. The 30 s after a write have 1,200.
  await client.query(
    `insert into audit (site_id, at, actor_kind, client_id, request_id, action, parts, types, ids, patients, parameters, versions)
     select $1, t, 'key', 'svc-reader', 'r', 'read', '{}', '{Observation}',
            array[gen_random_uuid()], '{}', '{}', null
       from generate_series(1, $2::integer) i cross join lateral (select '2026-01-01'::timestamptz + i * interval '25 ms') as x(t)`,
    [large, sized(40_000, 3_456_000)],
  );
  await client.query(
    `insert into audit (site_id, at, actor_kind, client_id, request_id, action, parts, types, ids, patients, parameters, versions)
     select site_id, last_updated + interval '40 ms', 'key', 'svc-writer', 'w', 'create', '{}', '{Observation}', array[id], '{}', '{}', '{1}'
       from resource where site_id = $1 and type = 'Observation' order by id limit 50`,
    [large],
  );
  await client.query('analyze audit');
  const included = { ...page, type: 'Observation', included: ['Provenance'] } as const;
  // The first call also reads the catalog, to plan the statements of the function.
  await explain(application, large, searchPage({ ...included, site: large }));
  const near = await explain(application, large, searchPage({ ...included, site: large }));
  expect(near.pages).toBeLessThan(2 * MAX_PAGES);
  const found = searchPage({ ...included, site: large });
  const { rows } = await application.query<{ facts: string | null }>(found.text, [...found.params]);
  expect(rows.filter(({ facts }) => facts?.includes('svc-writer') === true)).toHaveLength(50);
  // Without a row of the writer, it reads those of 30 s.
  await client.query(`delete from audit where client_id = 'svc-writer'`);
  const without = await explain(application, large, searchPage({ ...included, site: large }));
  expect(without.pages).toBeLessThan(10 * MAX_PAGES);
});

test.each<[string, Related, string]>([
  ['a code of half of all Observations', having(COMMON_CODE), 'has-matches'],
  ['two categories', having(token('category', code('laboratory'), code('vital-signs'))), 'has-matches'],
  ['a common name', chained(name('anna')), 'chained-patients'],
])('by %s is refused, without reading more', async (_, related, limit) => {
  const selection = { ...page, site: large, type: related.kind === 'has' ? 'Patient' : 'Observation' } as const;
  const found = searchPage({ ...selection, related: [related] });
  const counted = searchCount(large, selection.type, [], [related]);
  for (const query of [found, counted]) {
    const { rows, whole } = await explain(application, large, query);
    expect(whole).toEqual([]);
    // Each of two categories is read up to the limit.
    expect(rows).toBeLessThanOrEqual(2 * (LIMITS['has-matches'].most + 1));
    const answer = await application.query(query.text, [...query.params]);
    expect(answer.rows).toEqual([expect.objectContaining({ over_limit: limit })]);
  }
});

describe.each<[string, Criterion, string, number]>([
  [
    '1,000 resources',
    token('code', ...FOUND_CODES.map((value) => code(value))),
    `select t.id from resource_token t where t.site_id = $1
        and t.code_key in (${FOUND_CODES.map((value) => `token_key('Observation', 'code', '${value}')`).join(', ')})`,
    1_000,
  ],
  // More than are listed, so that another order than that of the ids walks (edge/store/search/list-or-walk.ts).
  [
    'nearly as many as a _has may find',
    date('lt', '2020-07-01', '2020-07-02'),
    `select d.id from resource_date d where d.site_id = $1 and d.date_key = date_key('Observation', 'date')
        and d.from_at < '2020-07-01Z'`,
    0.8 * LIMITS['has-matches'].most,
  ],
])('a _has that finds %s', (_found, criterion, ids, least) => {
  test.each<[string, Sort, string]>([
    ['id', BY_ID, 's.id'],
    ['name', by('name'), 's.name_sort, s.id'],
    ['-birthdate,-name', by('-birthdate', '-name'), 's.birth_date desc, s.name_sort desc, s.id desc'],
  ])('in the order of %s: reads these, not the site', async (_order, sort, order) => {
    const { rows: first } = await db.client.query<{ id: string; matches: number }>(
      `select s.id, sum(n.matches) over ()::integer as matches
         from (select r.patient_id as id, count(*) as matches from resource r
                where r.site_id = $1 and r.type = 'Observation' and r.id in (${ids}) group by 1) n
         join patient_search s on s.site_id = $1 and s.id = n.id
        order by ${order} limit 51`,
      [large],
    );
    const matches = first[0]?.matches ?? 0;
    expect(matches).toBeGreaterThanOrEqual(least);
    const query = searchPage({ ...page, site: large, type: 'Patient', related: [having(criterion)], sort });
    for (const planned of plansOf(query)) {
      const { pages, rows, whole } = await explain(application, large, query, planned);
      expect(whole).toEqual([]);
      expect(pages).toBeLessThan(MAX_PAGES + MATCH_PAGES * matches);
      expect(rows).toBeLessThan(2 * matches);
    }
    const { rows } = await application.query<{ id: string | null }>(query.text, [...query.params]);
    expect(rows.flatMap(({ id }) => id ?? [])).toEqual(first.map(({ id }) => id));
  });
});

describe('a search for many names', () => {
  const MOST = 20;
  const names = (n: number, tag: string) => Array.from({ length: n }, (_, at) => `${tag}${at}`);
  const any = (fragments: readonly string[]): Criterion => ({ kind: 'name', fragments });
  const parts = (match: 'beginning' | 'exact' | 'contains', fragments: readonly string[]): Criterion => ({
    kind: 'name-part',
    part: 'family',
    match,
    any: fragments.map((fragment) => ({ fragment, line: fragment })),
  });
  const each = (n: number, tag: string) => names(n, tag).map((fragment) => any([fragment]));
  const SEARCHES: readonly (readonly [string, (n: number) => Criterion[]])[] = [
    ['name=', (n) => [any(names(n, 'zzq'))]],
    ['name= of several parameters', (n) => each(n, 'zzq')],
    ['name= of some and some', (n) => [any(names(n / 2, 'zzq')), any(names(n / 2, 'anna z'))]],
    ['family=', (n) => [parts('beginning', names(n, 'zzq'))]],
    ['family:exact=', (n) => [parts('exact', names(n, 'zzq'))]],
    ['family:contains=', (n) => [parts('contains', names(n, 'zzq'))]],
    ['name= with gender', (n) => [any(names(n, 'zzq')), { kind: 'gender', codes: ['male'] }]],
    ['name= with birthdate=gt', (n) => [any(names(n, 'zzq')), birth([['1930-01-05', '~']], '1930')]],
    ['name= with identifier=s|', (n) => [identifier(null, 'urn:mrn'), any(names(n, 'zzq'))]],
  ];
  const ORDERS: readonly (readonly [string, Sort])[] = [
    ['by id', BY_ID],
    ['by name', by('name')],
    ['by time', by('-last-updated')],
    ['by birth date and name', by('-birthdate', '-name')],
    ['by name and time', by('name', 'last-updated')],
  ];
  const READS: readonly (readonly [string, (criteria: Criterion[]) => Query])[] = [
    ...ORDERS.map(
      ([label, sort]) =>
        [
          label,
          (criteria: Criterion[]) =>
            searchPage({ site: large, type: 'Patient', criteria, sort, after: null, limit: 50 }),
        ] as const,
    ),
    ['counted', (criteria) => searchCount(large, 'Patient', criteria)],
    ['as a condition', (criteria) => lookUpResources(large, [{ type: 'Patient', criteria }])],
  ];

  describe.each(SEARCHES)('%s', (_search, of) => {
    test.each(READS)('%s: by index, and twice the names read twice the pages', async (_read, query) => {
      const half = await explain(application, large, query(of(MOST / 2)));
      const full = await explain(application, large, query(of(MOST)));
      expect(full.whole).toEqual([]);
      expect(full.rows).toBeLessThan(100);
      expect(full.pages).toBeLessThan(32 * MOST);
      // Without the pages before the first of them.
      expect(full.pages).toBeLessThanOrEqual(2.3 * half.pages + 32);
    });
  });

  test.each(ORDERS)('%s, of names that many have: no more than is listed, and what a page shows', async (_, sort) => {
    const common = GIVEN.split(' ').slice(0, MOST);
    const criteria = [any(common)];
    const selection = { site: large, type: 'Patient' as const, criteria, sort, after: null, limit: 50 };
    // In the order of names, a page also passes the patients without such a name who are before its last one.
    const { rows: passed } = await db.client.query<{ n: number }>(
      `select count(*)::integer as n from patient_search where site_id = $1 and name_sort < (
         select max(name_sort) from (select name_sort from patient_search where site_id = $1 and names ~ $2 order by 1 limit 51) p)`,
      [large, common.join('|')],
    );
    const { pages, whole } = await explain(application, large, searchPage(selection));
    expect(whole).toEqual([]);
    expect(pages).toBeLessThan(12 * 2_000 + (sort.by === 'name' ? (passed[0]?.n ?? 0) : 0));
    await application.query('begin');
    await application.query(`select set_config('gateway.site', $1, true)`, [large]);
    const query = searchPage(selection);
    const page = await application.query<{ id: string }>(query.text, [...query.params]);
    await application.query('rollback');
    expect(page.rows).toHaveLength(51);
  });

  // Few patients have one of these names, so the page is listed and sorted. The test compares it with PostgreSQL's order.
  test.each([
    ['id', BY_ID, 'r.id'],
    ['name', by('-name'), 's.name_sort desc, r.id desc'],
    ['last-updated', by('-last-updated'), 'r.last_updated desc, r.id desc'],
    ['birthdate,-name', by('birthdate', '-name'), 's.birth_date, s.name_sort desc, r.id desc'],
  ] as const)('in the order of %s: page after page, all of them', async (_, sort, order) => {
    const fragments = ['fitzger', 'bradshaw', 'gonzalez', 'pekovski', 'schustanov', 'macmac', 'torres'];
    const { rows } = await db.client.query<{ id: string }>(
      `select r.id from resource r join patient_search s on s.site_id = r.site_id and s.id = r.id
        where r.site_id = $1 and r.type = 'Patient' and s.names ~ $2 order by ${order}`,
      [large, fragments.join('|')],
    );
    expect(rows.length).toBeGreaterThan(200);
    const seen: string[] = [];
    for (let after: Position | null = null; seen.length < rows.length;) {
      const query = searchPage({ site: large, type: 'Patient', criteria: [any(fragments)], sort, after, limit: 50 });
      await application.query('begin');
      await application.query(`select set_config('gateway.site', $1, true)`, [large]);
      const page = await application.query<{ id: string; sort_key: string | null }>(query.text, [...query.params]);
      await application.query('rollback');
      const shown = page.rows.slice(0, 50);
      const last = shown.at(-1);
      if (last === undefined) break;
      seen.push(...shown.map(({ id }) => id));
      after = { key: last.sort_key, id: last.id };
    }
    expect(seen).toEqual(rows.map(({ id }) => id));
  });
});

const keyOf = (text: string): string => `token_key('Observation', 'code', ${text})`;

// Two codes share resources, and one has two systems.
test('pages of several codes: page after page, each resource once', async () => {
  const { client } = db;
  await client.query(
    `insert into resource_token (site_id, id, code_key, system_key)
     select t.site_id, t.id, ${keyOf('n.code')}, ${keyOf('n.system')}
       from resource_token t, (values ('c7', 'urn:others'), ('c9', 'urn:codes')) n (code, system)
      where t.site_id = $1 and t.code_key = ${keyOf("'c7'")} on conflict do nothing`,
    [small],
  );
  for (const [site, any, condition] of [
    [small, [code('c7'), code('c9')], `t.code_key in (${keyOf("'c7'")}, ${keyOf("'c9'")})`],
    [
      small,
      [code('c7', 'urn:others'), code('c5', 'urn:codes')],
      `(t.code_key, t.system_key) in ((${keyOf("'c7'")}, ${keyOf("'urn:others'")}), (${keyOf("'c5'")}, ${keyOf("'urn:codes'")}))`,
    ],
    [small, [code('c7', ''), { system: 'urn:others', value: null }], `t.system_key = ${keyOf("'urn:others'")}`],
    [large, [code('c7'), code('c9', 'urn:codes')], `t.code_key in (${keyOf("'c7'")}, ${keyOf("'c9'")})`],
  ] as const)
    for (const descending of [false, true]) {
      const { rows } = await client.query<{ id: string }>(
        `select distinct t.id from resource_token t
          where t.site_id = $1 and ${condition}
          order by t.id ${descending ? 'desc' : ''}`,
        [site],
      );
      const all = rows.map(({ id }) => id);
      expect(all).not.toEqual([]);
      await application.query(`select set_config('gateway.site', $1, false)`, [site]);
      for (let at = 0; at < all.length; at += 3) {
        const after = all[at - 1];
        const query = searchPage({
          site,
          type: 'Observation',
          criteria: [token('code', ...any)],
          sort: { by: 'id', descending },
          after: after === undefined ? null : { key: null, id: after },
          limit: 3,
        });
        const { rows: shown } = await application.query<{ id: string }>(query.text, query.params.map(parameter));
        expect(shown.map(({ id }) => id)).toEqual(all.slice(at, at + 4));
      }
    }
});

describe('pages of a date', () => {
  let site: string;
  beforeAll(async () => {
    site = await createSite(db.client);
    await populate(db.client, site, 300);
    // Some have no beginning or no end, and some begin at the same time.
    await db.client.query(
      `update resource_date set from_at = case when r % 40 = 1 then '-infinity' else date_trunc('hour', from_at) end,
              before_at = case when r % 30 = 2 then 'infinity' else before_at end
         from (select id as of, row_number() over (order by id) as r from resource_date where site_id = $1) n
        where site_id = $1 and id = of`,
      [site],
    );
  });

  test.each([
    ['gt', 'before_at > v.e'],
    ['ge', 'before_at > v.e or from_at >= v.s and before_at <= v.e'],
    ['sa', 'from_at >= v.e'],
    ['lt', 'from_at < v.s'],
    ['le', 'from_at < v.s or from_at >= v.s and before_at <= v.e'],
    ['eb', 'before_at <= v.s'],
    ['eq', 'from_at >= v.s and before_at <= v.e'],
  ])('%s: page after page, each resource once, in the order of the date', async (prefix, condition) => {
    await application.query(`select set_config('gateway.site', $1, false)`, [site]);
    for (const sort of BY_DATE) {
      const direction = sort.descending ? 'desc' : 'asc';
      const { rows: all } = await db.client.query<{ id: string }>(
        `select id from resource_date, (values ('2020-01-02Z'::timestamptz, '2020-01-03Z'::timestamptz)) v (s, e)
          where site_id = $1 and (${condition})
          order by from_at ${direction}, id ${direction}`,
        [site],
      );
      expect(all.length).toBeGreaterThan(0);
      const seen: string[] = [];
      for (let after: Position | null = null; seen.length < all.length;) {
        const criteria = [date(prefix, '2020-01-02', '2020-01-03')];
        const query = searchPage({ site, type: 'Observation', criteria, sort, after, limit: 20 });
        const { rows } = await application.query<{ id: string; sort_key: string | null }>(
          query.text,
          query.params.map(parameter),
        );
        const last = rows.slice(0, 20).at(-1);
        if (last === undefined) break;
        seen.push(...rows.slice(0, 20).map(({ id }) => id));
        after = { key: last.sort_key, id: last.id };
      }
      expect(seen).toEqual(all.map(({ id }) => id));
    }
  });
});

describe('pages of patients with a name', () => {
  // One of all patients, a few hundred, and more than are listed (edge/store/search/page-ids.ts).
  test.each([
    ['one family name', [part('family', 'beginning', 'fitzgerbrad')], 'fitzgerbrad', ''],
    ['the beginning of some', [part('family', 'beginning', 'fitzger')], 'fitzger', ''],
    ['a letter that many begin with', [part('family', 'beginning', 'm')], 'm', ''],
    [
      'two letters, one of many',
      [part('given', 'beginning', 'j'), part('family', 'beginning', 'fitzger')],
      'fitzger',
      'j',
    ],
    ['two letters, both of many', [part('given', 'beginning', 'j'), part('family', 'beginning', 'm')], 'm', 'j'],
  ])('%s', async (_, criteria, family, given) => {
    const { rows } = await db.client.query<{ id: string }>(
      `select id from patient_search where site_id = $1 and families like E'\\n' || $2 || '%' and givens like E'\\n' || $3 || '%'
        order by id limit 120`,
      [large, family, given],
    );
    const all = rows.map(({ id }) => id);
    const places = [null, ...all.slice(50, 51), ...all.slice(-1)];
    for (const [after, sort] of places.flatMap((place) => [[place, BY_ID] as const, [place, BY_ID_PLANNED] as const])) {
      const query = searchPage({
        site: large,
        type: 'Patient',
        criteria,
        sort,
        after: after === null ? null : { key: null, id: after },
        limit: 50,
      });
      await application.query('begin');
      await application.query(`select set_config('gateway.site', $1, true)`, [large]);
      const page = await application.query<{ id: string }>(query.text, [...query.params]);
      await application.query('rollback');
      const from = after === null ? 0 : all.indexOf(after) + 1;
      expect(page.rows.slice(0, all.length - from).map(({ id }) => id)).toEqual(all.slice(from, from + 51));
    }
  });
});
