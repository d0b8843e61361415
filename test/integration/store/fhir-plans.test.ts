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
import type { PageSelection, Position, Related, Sort } from '../../../edge/store/search/page-selection.ts';

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
 * More than the hundred most common values that PostgreSQL keeps of a column. If it knew every site, it would expect one row of a
 * new one. It would read all rows of that site for a page until the next ANALYZE.
 */
const SMALL_SITES = sized(150, 1_000);
const UNKNOWN_PATIENTS = 10_000;

const db = await useTestDatabase();
const { rows: versions } = await db.client.query<{ version: string }>(
  `select current_setting('server_version') as version`,
);
const isVersion16 = versions[0]?.version.startsWith('16') === true;
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

/** The plans that a statement may get. */
const plansOf = ({ planAnew }: Query) => (planAnew === true ? [planFor] : [planFor, planKept]);

const BY_ID: Sort = { by: 'id', descending: false };
/** An equivalent order, in which the planner serves a search by key instead of fhir_find. */
const BY_ID_PLANNED: Sort = { ...BY_ID, ties: [{ by: 'last-updated', descending: false }] };
const token = (param: string, ...any: Token[]): Criterion => ({ kind: 'token', param, any });
const code = (value: string, system: string | null = null): Token => ({ system, value });
const name = (text: string): Criterion => ({ kind: 'name', fragments: [spellNames(fold(text))] });
const patient = (site: string): Criterion => ({ kind: 'patient', ids: [subjects.get(site) ?? ''] });
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
const date = (prefix: string, from: string, before: string): Criterion => ({
  kind: 'date',
  param: 'date',
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
/** Half of all results of a large site. */
const SOME_YEARS = [date('ge', '2020-06-01', '2020-06-02'), date('lt', '2021-12-01', '2021-12-02')] as const;

type Case = readonly [
  label: string,
  type: ResourceType,
  criteria: (site: string) => Criterion[],
  index: string | RegExp,
  sort?: Sort,
];
const CASES: readonly Case[] = [
  ['Patient', 'Patient', () => [], 'resource_pkey'],
  ['Patient?identifier=v', 'Patient', () => [identifier('MRN7', null)], 'resource_identifier_pkey', BY_ID_PLANNED],
  [
    'Patient?identifier=s|v',
    'Patient',
    () => [identifier('MRN7', 'urn:mrn')],
    'resource_identifier_pkey',
    BY_ID_PLANNED,
  ],
  ['Patient?identifier=s|', 'Patient', () => [identifier(null, 'urn:mrn')], 'resource_identifier_system'],
  ['Patient?identifier=s|v, many', 'Patient', () => [MANY_MRNS], 'resource_identifier_pkey', BY_ID_PLANNED],
  [
    'Patient?identifier=s|v, many, newest first',
    'Patient',
    () => [MANY_MRNS],
    'resource_identifier_pkey',
    { by: 'id', descending: true },
  ],
  ['Patient?name=, selective', 'Patient', () => [name('fitzgerbrad')], /patient_search_(names|pkey)/, BY_ID_PLANNED],
  ['Patient?name=, one Chinese letter', 'Patient', () => [name('王')], /patient_search_(names|pkey)/, BY_ID_PLANNED],
  ['Patient?name=, common', 'Patient', () => [name('anna')], 'patient_search_pkey', BY_ID_PLANNED],
  [
    'Patient?name=, with birthdate',
    'Patient',
    () => [name('fitz'), { kind: 'birthdate', dates: ['1974-12-25'] }],
    /^patient_search_/,
  ],
  ['Patient?birthdate=', 'Patient', () => [{ kind: 'birthdate', dates: ['1974-12-25'] }], 'patient_search_birth_date'],
  ['Patient?gender=', 'Patient', () => [{ kind: 'gender', codes: ['male'] }], /patient_search_(gender|pkey)/],
  ['Condition?patient=', 'Condition', (site) => [patient(site)], 'resource_of_patient', BY_ID_PLANNED],
  ['Condition?clinical-status=', 'Condition', () => [token('clinical-status', code('active'))], 'resource_token_pkey'],
  ['Condition?code=', 'Condition', () => [token('code', code('c7'))], 'resource_token_pkey'],
  [
    'Condition?code=&clinical-status=',
    'Condition',
    () => [token('code', code('common')), token('clinical-status', code('active'))],
    'resource_token_pkey',
  ],
  ['Observation?patient=', 'Observation', (site) => [patient(site)], 'resource_of_patient', BY_ID_PLANNED],
  ['Observation?code=, common', 'Observation', () => [token('code', code('common'))], 'resource_token_pkey'],
  ['Observation?code=s|v', 'Observation', () => [token('code', code('common', 'urn:codes'))], 'resource_token_pkey'],
  [
    'Observation?code=s|',
    'Observation',
    () => [token('code', { system: 'urn:codes', value: null })],
    'resource_token_system',
  ],
  ['Observation?code=v,v', 'Observation', () => [token('code', code('common'), code('c7'))], 'resource_token_pkey'],
  [
    'Observation?code=s|v,s|v, none of them used',
    'Observation',
    () => [token('code', ...UNUSED_CODES.map(({ value }) => ({ value, system: 'urn:codes' })))],
    'resource_token_pkey',
  ],
  [
    'Observation?code=s|,s|v',
    'Observation',
    () => [token('code', { system: 'urn:codes', value: null }, code('c7', 'urn:codes'))],
    'resource_token_system',
  ],
  [
    'Observation?category=v,v&code=v,v',
    'Observation',
    () => [token('category', code('laboratory'), code('vital-signs')), token('code', code('common'), code('c7'))],
    'resource_token_pkey',
  ],
  [
    'Observation?patient=&code=',
    'Observation',
    (site) => [patient(site), token('code', code('common'))],
    'resource_of_patient',
    BY_ID_PLANNED,
  ],
  ['DocumentReference?type=', 'DocumentReference', () => [token('type', code('c7'))], 'resource_token_pkey'],
  ['DiagnosticReport?patient=', 'DiagnosticReport', (site) => [patient(site)], 'study_of_patient'],
  ['DiagnosticReport?status=', 'DiagnosticReport', () => [{ kind: 'report-state', states: ['completed'] }], /^report_/],
  ['_id', 'Observation', (site) => [{ kind: 'id', ids: [subjects.get(site) ?? ''] }], 'resource_pkey'],
  [
    '_lastUpdated',
    'Patient',
    () => [
      { kind: 'last-updated', any: [{ from: '2026-01-01T00:00:03Z', before: '2026-01-01T00:00:09Z', outside: false }] },
    ],
    'resource_last_updated',
  ],
  [
    'Patient?family=',
    'Patient',
    () => [part('family', 'beginning', 'fitzgerbrad')],
    /patient_(name_pkey|search_names)/,
    BY_ID_PLANNED,
  ],
  ['Patient?family:exact=', 'Patient', () => [part('family', 'exact', 'fitzgerbrad')], 'patient_name_pkey'],
  [
    'Patient?given=&family=',
    'Patient',
    () => [part('given', 'beginning', 'a'), part('family', 'beginning', 'fitzgerbrad')],
    'patient_name_pkey',
    BY_ID_PLANNED,
  ],
  ['Patient?given:contains=', 'Patient', () => [part('given', 'contains', 'imberl')], /patient_search_(names|pkey)/],
  [
    'Patient?given=, common',
    'Patient',
    () => [part('given', 'beginning', 'anna')],
    /patient_search_(names|pkey)/,
    BY_ID_PLANNED,
  ],
  ['Patient?birthdate=1974-12', 'Patient', () => [birth([['1974-12', '1974-12.']])], 'patient_search_birth_date'],
  ['Patient?birthdate=gt', 'Patient', () => [birth([['1930-01-05', '~']], '1930')], /^patient_search_/],
  [
    'Patient?family=&birthdate=lt',
    'Patient',
    // For a more common beginning, the index of names and a walk of the ids cost the same, and ANALYZE's sample decides. One
    // in a thousand has `fitzger`, and at a million patients an answer then reads 1,600 or 6,900 pages.
    () => [part('family', 'beginning', 'fitzgerbrad'), birth([['0', '1990']])],
    /^patient_search_/,
  ],
  ['Observation?date=, a day', 'Observation', () => [A_DAY], DATES],
  ['Observation?date=ge, nearly all', 'Observation', () => [date('ge', '2020-01-01', '2020-01-02')], DATES],
  ['Observation?date=lt, a few', 'Observation', () => [date('lt', '2020-01-01', '2020-01-02')], DATES],
  [
    'Observation?date=ge&date=lt',
    'Observation',
    () => [date('ge', '2020-01-03', '2020-01-04'), date('lt', '2020-01-05', '2020-01-06')],
    DATES,
  ],
  [
    'Observation?patient=&date=',
    'Observation',
    (site) => [patient(site), date('ge', '2020-01-01', '2020-01-02')],
    'resource_date_of_patient',
  ],
  [
    'Observation?patient=&date=ge&date=lt',
    'Observation',
    (site) => [patient(site), ...SOME_YEARS],
    'resource_date_of_patient',
  ],
  ['Observation?patient=&date=lt', 'Observation', (site) => [patient(site), SOME_YEARS[1]], 'resource_date_of_patient'],
  [
    'Observation?patient=&category=&status=',
    'Observation',
    (site) => [patient(site), token('category', code('laboratory')), token('status', code('final'))],
    'resource_of_patient',
  ],
  [
    'Observation?code=&date=',
    'Observation',
    () => [token('code', code('c7')), date('ge', '2020-01-01', '2020-01-02')],
    'resource_token_pkey',
  ],
  ['Observation?category=&date=, a day', 'Observation', () => [token('category', code('laboratory')), A_DAY], DATES],
  ['Observation?category=', 'Observation', () => [token('category', code('vital-signs'))], 'resource_token_pkey'],
  ['Observation?status=', 'Observation', () => [token('status', code('final'))], 'resource_token_pkey'],
  ['Observation?category:not=', 'Observation', () => [not(token('category', code('vital-signs')))], 'resource_pkey'],
  [
    'Observation?patient=&status:not=',
    'Observation',
    (site) => [patient(site), not(token('status', code('final')))],
    'resource_of_patient',
  ],
  ['Observation?date:missing=true', 'Observation', () => [missing('date')], 'resource_token_pkey'],
  ['Observation?date:missing=false', 'Observation', () => [not(missing('date'))], 'resource_pkey'],
  ['_sort=-_lastUpdated', 'Patient', () => [], 'resource_last_updated', { by: 'last-updated', descending: true }],
  ['_sort=name', 'Patient', () => [], 'patient_search_name_sort', { by: 'name', descending: false }],
  [
    '_sort=birthdate,name',
    'Patient',
    () => [],
    'patient_search_birth_date_name',
    { by: 'birthdate', descending: false, ties: [{ by: 'name', descending: false }] },
  ],
  [
    '_sort=-name,-_lastUpdated',
    'Patient',
    () => [],
    'patient_search_name_sort',
    { by: 'name', descending: true, ties: [{ by: 'last-updated', descending: true }] },
  ],
  [
    '_sort=-_lastUpdated,name',
    'Patient',
    () => [],
    'resource_last_updated',
    { by: 'last-updated', descending: true, ties: [{ by: 'name', descending: false }] },
  ],
  [
    '_sort=-_lastUpdated,_id',
    'Observation',
    () => [],
    'resource_last_updated',
    { by: 'last-updated', descending: true, ties: [{ by: 'id', descending: false }] },
  ],
  ['_sort=-birthdate', 'Patient', () => [], 'patient_search_birth_date', { by: 'birthdate', descending: true }],
];

/** Observations by date: newest first, and oldest first. */
const BY_DATE: readonly Sort[] = [true, false].map((descending) => ({ by: 'date', param: 'date', descending }));
const DATED: readonly (readonly [label: string, criteria: (site: string) => Criterion[], index: RegExp])[] = [
  ['', () => [], /^resource_date_from/],
  ['patient=', (site) => [patient(site)], /^resource_date_of_patient/],
  ['patient=&code=', (site) => [patient(site), token('code', code('common'))], /^resource_date_of_patient/],
  [
    'patient=&category=&date=ge',
    (site) => [patient(site), token('category', code('laboratory')), date('ge', '2020-01-01', '2020-01-02')],
    /^resource_date_of_patient/,
  ],
  ['patient=&date=ge&date=lt', (site) => [patient(site), ...SOME_YEARS], /^resource_date_of_patient/],
  ['patient=&date=lt', (site) => [patient(site), SOME_YEARS[1]], /^resource_date_of_patient/],
  [
    '$docref, start=',
    (site) => [patient(site), { ...date('gt', '2020-01-01', '2020-01-01'), param: CARE_TIME }],
    /^resource_date_of_patient/,
  ],
  ['code=', () => [token('code', code('c7'))], /^resource_token_pkey/],
  ['code=, common', () => [token('code', code('common'))], /^resource_date_from/],
  ['category=', () => [token('category', code('laboratory'))], /^resource_date_from/],
  ['category=&code=', () => [token('category', code('laboratory')), token('code', code('c7'))], /^resource_token_pkey/],
  ['category:not=', () => [not(token('category', code('vital-signs')))], /^resource_date_from/],
  ['date=, a day', () => [A_DAY], DATES],
  ['date:missing=true', () => [missing('date')], /^resource_token_pkey/],
];
const SORTED: readonly Case[] = [
  ...BY_DATE.flatMap((sort) =>
    DATED.map(([label, criteria, index]): Case => {
      const by = `_sort=${sort.descending ? '-' : ''}date`;
      return [label === '' ? by : `${label}&${by}`, 'Observation', criteria, index, sort];
    }),
  ),
  [
    'date=ge, the newest&_sort=-date',
    'Observation',
    () => [date('ge', NEWEST, NEWEST)],
    /^resource_date_before/,
    { by: 'date', param: 'date', descending: true },
  ],
];

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
          return searchPage({ site, type: 'Observation', criteria: [patient(site)], sort, after, limit: 50 });
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
const MRN = identifier('MRN7', 'urn:mrn');
const RELATED: readonly (readonly [string, Omit<PageSelection, 'site'>, needed: readonly string[]])[] = [
  [
    'Observation?patient.identifier=',
    { ...page, type: 'Observation', related: [chained(MRN)] },
    ['resource_identifier_pkey', 'resource_of_patient'],
  ],
  [
    'Observation?patient.identifier=&code=, common',
    { ...page, type: 'Observation', related: [chained(MRN)], criteria: [token('code', code('common'))] },
    ['resource_identifier_pkey', 'resource_of_patient'],
  ],
  [
    'Observation?patient.identifier=&date=ge',
    {
      ...page,
      type: 'Observation',
      related: [chained(MRN)],
      criteria: [date('ge', '2020-01-01', '2020-01-02')],
    },
    ['resource_identifier_pkey', 'resource_date_of_patient'],
  ],
  [
    'Observation?patient.identifier=&_sort=-date',
    { ...page, type: 'Observation', related: [chained(MRN)], sort: { by: 'date', param: 'date', descending: true } },
    ['resource_identifier_pkey', 'resource_date_of_patient'],
  ],
  [
    'Observation?patient.identifier=&_sort=-_lastUpdated',
    { ...page, type: 'Observation', related: [chained(MRN)], sort: { by: 'last-updated', descending: true } },
    ['resource_identifier_pkey', 'resource_of_patient'],
  ],
  [
    'DiagnosticReport?patient.identifier=',
    { ...page, type: 'DiagnosticReport', related: [chained(MRN)] },
    ['resource_identifier_pkey', 'study_of_patient'],
  ],
  [
    'Observation?patient.birthdate=',
    { ...page, type: 'Observation', related: [chained({ kind: 'birthdate', dates: ['1974-12-25'] })] },
    ['resource_of_patient'],
  ],
  [
    'Observation?patient.family=&patient.birthdate=lt&code=',
    {
      ...page,
      type: 'Observation',
      related: [chained(part('family', 'beginning', 'fitzgerbrad'), birth([['0', '1990']]))],
      criteria: [token('code', code('common'))],
    },
    ['resource_of_patient'],
  ],
  [
    'Patient?_has:Observation:patient:code=',
    { ...page, type: 'Patient', related: [having(token('code', code('c7')))] },
    ['resource_token_pkey', 'resource_pkey'],
  ],
  [
    'Patient?_has:Observation:patient:code=, many',
    { ...page, type: 'Patient', related: [having(token('code', code('c7'), ...UNUSED_CODES))] },
    ['resource_token_pkey', 'resource_pkey'],
  ],
  [
    'Patient?_has:Observation:patient:code=s|v,s|v',
    {
      ...page,
      type: 'Patient',
      related: [having(token('code', code('c7', 'urn:codes'), code('unused', 'urn:codes')))],
    },
    ['resource_token_pkey', 'resource_pkey'],
  ],
  [
    'Patient?_has:Observation:patient:code=&_sort=name',
    { ...page, type: 'Patient', related: [having(token('code', code('c7')))], sort: { by: 'name', descending: false } },
    ['resource_token_pkey'],
  ],
  [
    'Patient?_has:Observation:patient:code=&name=',
    { ...page, type: 'Patient', related: [having(token('code', code('c7')))], criteria: [name('anna')] },
    ['resource_token_pkey'],
  ],
  [
    'Patient?_revinclude=, all types',
    { ...page, type: 'Patient', included: ABOUT },
    ['resource_pkey', 'resource_of_patient'],
  ],
  [
    'Patient?_sort=name&_revinclude=',
    { ...page, type: 'Patient', included: ['Observation'], sort: { by: 'name', descending: false } },
    ['patient_search_name_sort', 'resource_of_patient'],
  ],
];
/** Each resource that a `_has` finds is looked up, and each type of what refers to each patient of a page. */
const RELATED_PAGES = 5 * MAX_PAGES;
/** For each resource that a `_has` finds: two look-ups, of it and of its patient. */
const MATCH_PAGES = 12;
/** 1,000 Observations have one of them. */
const FOUND_CODES = Array.from({ length: 5_000_000 / PATIENTS }, (_, at) => `c${2 * at + 1}`);

describe.each<readonly [string, () => string]>([
  [`a site of ${PATIENTS} patients`, () => large],
  [`a site of ten among ${SMALL_SITES}`, () => small],
  // Version 16 may read such a site as a whole (edge/docs/deploy.md).
  ...(isVersion16 ? [] : [['a site that the statistics do not know', () => unknown] as const]),
])('%s', (_, site) => {
  for (const [label, type, criteria, index, sort = BY_ID] of [...CASES, ...SORTED]) {
    test(label, async () => {
      const selection = { site: site(), type, criteria: criteria(site()), sort, after: null, limit: 50 };
      const query = searchPage(selection);
      // Until the statistics know a site, all of a range may be read for a page of it.
      const isUnknownRange = site() === unknown && /date=[gl][te]/.test(label);
      // Until the statistics know a site, a part of a name may be looked for in all its names. And until it is vacuumed, the
      // row of each name that an index finds is looked at: of one in fifty.
      const isUnknownName = site() === unknown && /name=|family|given/.test(label);
      const dated = /^(category=&)?code=&_sort/.test(label) ? DATED_PAGES : 0;
      const trigrams = /family=&birthdate/.test(label) ? TRIGRAM_PAGES : 0;
      // Each value of a list finds a page, whose resources are looked up for the other criterion.
      const values = /v,v&/.test(label) ? MAX_PAGES : 0;
      const listed = sort.param === undefined ? trigrams + values : LISTED_PAGES + dated;
      const sorted = /given=, common/.test(label) ? CANDIDATE_PAGES : 0;
      const most = (isUnknownName ? MAX_PAGES + UNKNOWN_PATIENTS / 50 : MAX_PAGES) + listed + sorted;
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
        expect(pages).toBeLessThan(isUnknownRange ? 2 * UNKNOWN_PATIENTS : most);
        expect(rows).toBeLessThan(isUnknownName || isUnknownRange ? UNKNOWN_PATIENTS + 1 : MAX_ROWS);
        expect(indexes.length).toBeGreaterThan(0);
        // In a small site any index of the site will do.
        if (site() === large) expect(indexes).toContainEqual(expect.stringMatching(index));
      }
    });
  }

  for (const [label, selection, needed] of RELATED) {
    const { type, criteria, related } = selection;
    const queries: readonly (readonly [string, (site: string) => Query])[] = [
      ['', (id) => searchPage({ ...selection, site: id })],
      ...(related === undefined
        ? []
        : [[', counted', (id: string) => searchCount(id, type, criteria, related)] as const]),
    ];
    for (const [as, query] of queries)
      test(label + as, async () => {
        for (const planned of plansOf(query(site()))) {
          const { indexes, whole, pages, rows } = await explain(application, site(), query(site()), planned);
          expect(whole).toEqual([]);
          // As for the same searches of Patient.
          const isUnknownRange = site() === unknown && /birthdate=lt/.test(label);
          const isUnknownName = site() === unknown && /name|family/.test(label);
          const most = RELATED_PAGES + (isUnknownName ? UNKNOWN_PATIENTS / 50 : 0);
          expect(pages).toBeLessThan(isUnknownRange ? 2 * UNKNOWN_PATIENTS : most);
          expect(rows).toBeLessThan(isUnknownName ? UNKNOWN_PATIENTS + 1 : MAX_ROWS);
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

test('the Provenance of a page reads the audit only near each write', async () => {
  const { client } = db;
  // A busy day: 40 accesses each second. The 30 s after a write have 1,200.
  await client.query(
    `insert into audit (site_id, at, minute, actor_kind, client_id, request_id, action, parts, types, ids, patients, parameters, versions)
     select $1, t, audit_minute(t), 'key', 'svc-reader', 'r', 'read', '{}', '{Observation}',
            array[gen_random_uuid()], '{}', '{}', null
       from generate_series(1, $2::integer) i cross join lateral (select '2026-01-01'::timestamptz + i * interval '25 ms') as x(t)`,
    [large, sized(40_000, 3_456_000)],
  );
  await client.query(
    `insert into audit (site_id, at, minute, actor_kind, client_id, request_id, action, parts, types, ids, patients, parameters, versions)
     select site_id, last_updated + interval '40 ms', audit_minute(last_updated + interval '40 ms'), 'key', 'svc-writer', 'w', 'create', '{}', '{Observation}', array[id], '{}', '{}', '{1}'
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
  ['a code of half of all Observations', having(token('code', code('common'))), 'has-matches'],
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
    `select d.id from resource_date d where d.site_id = $1 and d.type = 'Observation' and d.param = 'date'
        and d.from_at < '2020-07-01Z'`,
    0.8 * LIMITS['has-matches'].most,
  ],
])('a _has that finds %s', (_found, criterion, ids, least) => {
  test.each<[string, Sort, string]>([
    ['id', BY_ID, 's.id'],
    ['name', { by: 'name', descending: false }, 's.name_sort, s.id'],
    [
      '-birthdate,-name',
      { by: 'birthdate', descending: true, ties: [{ by: 'name', descending: true }] },
      's.birth_date desc, s.name_sort desc, s.id desc',
    ],
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
    ['by name', { by: 'name', descending: false }],
    ['by time', { by: 'last-updated', descending: true }],
    ['by birth date and name', { by: 'birthdate', descending: true, ties: [{ by: 'name', descending: true }] }],
    ['by name and time', { by: 'name', descending: false, ties: [{ by: 'last-updated', descending: false }] }],
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
    ['name', { by: 'name', descending: true }, 's.name_sort desc, r.id desc'],
    ['last-updated', { by: 'last-updated', descending: true }, 'r.last_updated desc, r.id desc'],
    [
      'birthdate,-name',
      { by: 'birthdate', descending: false, ties: [{ by: 'name', descending: true }] },
      's.birth_date, s.name_sort desc, r.id desc',
    ],
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
    `insert into resource_token (site_id, id, code_key, system_key, type)
     select t.site_id, t.id, ${keyOf('n.code')}, ${keyOf('n.system')}, t.type
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
    for (const after of [null, ...all.slice(50, 51), ...all.slice(-1)]) {
      const query = searchPage({
        site: large,
        type: 'Patient',
        criteria,
        sort: BY_ID,
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
