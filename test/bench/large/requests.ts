/** The requests to a site, and the check of each answer: a wrong answer ends the measurement. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import type { Asker, LargeGateway } from './gateway.ts';
import { adt, observationOf, oru, type Person } from './messages.ts';
import {
  COMMON_CODE,
  COMMON_FAMILY,
  COMMON_GIVEN,
  codeOf,
  happeningsOf,
  isOfMessage,
  patientId,
  personOf,
  RARE_CODE,
  resultsOf,
  someOf,
  specialOf,
  type World,
} from './world.ts';

const COUNT = 20;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The limit of a request in a large database: a multiple of its cost with ten thousand patients, or a median in milliseconds. */
export type Target = { readonly times: number } | { readonly ms: number };
/** For an answer that does not depend on the size of the database. */
const PAGE: Target = { times: 1.3 };
const NAME: Target = { ms: 3 };
const MESSAGES: Target = { ms: 20 };

export interface Asked {
  readonly request: Request;
  /** @throws if the answer is wrong */
  readonly check: (text: string) => void;
}

export interface Operation {
  readonly what: string;
  readonly target?: Target;
  readonly next: (n: number) => Asked;
}

interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly name?: readonly { readonly family: string; readonly given: readonly string[] }[];
  readonly identifier?: readonly { readonly value: string }[];
  readonly code?: { readonly coding: readonly { readonly code: string }[] };
  readonly category?: readonly { readonly coding: readonly { readonly code: string }[] }[];
  readonly subject?: { readonly reference: string };
  readonly effectiveDateTime?: string;
  readonly meta: { readonly lastUpdated: string; readonly versionId: string };
}
interface Bundle {
  readonly entry?: readonly { readonly resource: Resource }[];
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
}
const bundleOf = (text: string): Bundle => JSON.parse(text) as Bundle;
const resourcesOf = (text: string): Resource[] => (bundleOf(text).entry ?? []).map(({ resource }) => resource);
const nextOf = (text: string): string | undefined =>
  bundleOf(text).link?.find(({ relation }) => relation === 'next')?.url;

/** The items of a list of the console's API. */
type Item = Readonly<Record<string, unknown>>;
const itemsOf = (text: string): Item[] => (JSON.parse(text) as { readonly items: Item[] }).items;
const isError = ({ outcome }: Item): boolean => outcome === 'AE';

/** The number of results. */
type Count = number | 'some' | 'any';
type Search = readonly [string, (n: number) => string, Count, (one: Resource, n: number) => boolean];
type Listing = readonly [string, (n: number) => string, Count, ((item: Item, n: number) => boolean)?];
function all<T>(found: readonly T[], length: Count, holds: (one: T) => boolean): void {
  if (length === 'some') assert.notEqual(found.length, 0, 'nothing is found');
  else if (length !== 'any') assert.equal(found.length, length);
  for (const one of found) assert.ok(holds(one), JSON.stringify(one));
}

const familyIs = ({ name = [] }: Resource, begins: string): boolean =>
  name.some(({ family }) => family.toLowerCase().startsWith(begins.toLowerCase()));
const givenIs = ({ name = [] }: Resource, begins: string): boolean =>
  name.some(({ given }) => given.some((one) => one.toLowerCase().startsWith(begins.toLowerCase())));
const isOfCode = ({ code }: Resource, asked: string): boolean => code?.coding[0]?.code === asked;
const isAbout = ({ subject }: Resource, patient: string): boolean => subject?.reference === `Patient/${patient}`;

/** The number of Observations of each code of a special patient. */
function codesOf(world: World, patient: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { seed } of happeningsOf(world, patient))
    for (const { code } of resultsOf(seed)) counts.set(code, (counts.get(code) ?? 0) + 1);
  return counts;
}

const instant = (ms: number): string => new Date(ms).toISOString();

/**
 * @param sample the number of patients that the requests use
 * @returns the requests to a site, in the order of the report
 */
export async function operationsOf(
  world: World,
  site: number,
  asker: Asker,
  gateway: LargeGateway,
  sample: number,
): Promise<Operation[]> {
  const { fhir, hl7, admin } = asker;
  const some = someOf(world, site, sample);
  const at = (n: number): number => some[n % some.length] ?? 0;
  const [fifty, thousands, reports] = (['fifty', 'thousands', 'reports'] as const).map((one) => specialOf(site, one));
  if (fifty === undefined || thousands === undefined || reports === undefined)
    throw new TypeError('no special patients');
  const ids = { fifty: patientId(world, fifty), thousands: patientId(world, thousands) };
  const codes = { fifty: codesOf(world, fifty), thousands: codesOf(world, thousands) };
  const [ownCode = COMMON_CODE] = codes.fifty.keys();
  const mostCode = codeOf(3);

  const person = (n: number): Person => personOf(at(n));
  const idOf = (n: number): string => patientId(world, at(n));

  const search = (target: Target | undefined, [what, path, count, holds]: Search): Operation => ({
    what,
    ...(target === undefined ? {} : { target }),
    next: (n) => ({ request: fhir(path(n)), check: (text) => all(resourcesOf(text), count, (one) => holds(one, n)) }),
  });
  const ofCode = (what: string, of: 'fifty' | 'thousands', code: string): Operation =>
    search(undefined, [
      what,
      () => `/Observation?patient=${ids[of]}&code=http://loinc.org%7C${code}&_count=${COUNT}`,
      Math.min(codes[of].get(code) ?? 0, COUNT),
      (one) => isOfCode(one, code) && isAbout(one, ids[of]),
    ]);
  const ofDates = (what: string, of: 'fifty' | 'thousands', days: number): Operation => {
    const to = world.endMs - 10 * DAY_MS;
    const from = to - days * DAY_MS;
    const dates = `date=ge${instant(from)}&date=lt${instant(to)}`;
    return search(undefined, [
      what,
      () => `/Observation?patient=${ids[of]}&category=vital-signs&${dates}&_count=${COUNT}`,
      'some',
      (one) => {
        const when = Date.parse(one.effectiveDateTime ?? '');
        const category = one.category?.[0]?.coding[0]?.code;
        return isAbout(one, ids[of]) && when >= from && when < to && category === 'vital-signs';
      },
    ]);
  };
  const everything = (what: string, of: 'fifty' | 'thousands', length: number): Operation => {
    const path = `/Patient/${ids[of]}/$everything?_count=${length}`;
    return search(PAGE, [what, () => path, length, (one) => one.id === ids[of] || isAbout(one, ids[of])]);
  };
  const list = (target: Target, [what, path, count, holds = () => true]: Listing): Operation => ({
    what,
    target,
    next: (n) => ({
      request: admin(`/api/${path(n)}`),
      check: (text) => all(itemsOf(text), count, (item) => holds(item, n)),
    }),
  });
  const message = (what: string, next: (n: number) => string): Operation => ({
    what,
    target: PAGE,
    next: (n) => ({ request: hl7(next(n)), check: (text) => assert.match(text, /\rMSA\|AA\|/) }),
  });
  /** The id of this run, so that no message repeats an earlier one. */
  const run = randomUUID().slice(0, 8);
  const head = (n: number) => ({ control: `${run}-${n}`, at: new Date(Math.floor(Date.now() / 1000) * 1000) });
  const nora = { family: 'Newcomer', given: 'Nora', birthDate: '1980-02-03' };
  const newcomer = (n: number): Person => ({ mrn: `N${run}${n}`, ...nora });
  /** A patient with messages. */
  const known = some.filter(isOfMessage);
  const messaged = (n: number): Person => personOf(known[n % known.length] ?? reports);

  /** A client reaches the hundredth page by the links of ninety-nine others. */
  let first = await gateway.ask(fhir(`/Observation?_count=${COUNT}`));
  const firstIds = new Set(resourcesOf(first).map(({ id }) => id));
  for (let page = 1; page < 99; page += 1) first = await gateway.ask(fhir(nextOf(first) ?? ''));
  const hundredth = nextOf(first) ?? '';

  const begins = (text: string, length: number): string => text.slice(0, length);
  const common = begins(COMMON_FAMILY, 6);
  /** From the second letter on. */
  const part = (n: number): string => person(n).family.slice(1, 8);
  const isNamed = ({ name }: Resource, text: string): boolean => JSON.stringify(name).toLowerCase().includes(text);
  const isKind = ({ resourceType }: Resource): boolean => resourceType === 'Observation';
  const names = ({ named }: Item, text: string): boolean => JSON.stringify(named).includes(text);
  const isOf = ({ patients }: Item, patient: string): boolean => Array.isArray(patients) && patients.includes(patient);
  const page = `_count=${COUNT}`;
  const yesterday = world.endMs - DAY_MS;

  return [
    {
      what: 'read a patient',
      target: PAGE,
      next: (n) => ({
        request: fhir(`/Patient/${idOf(n)}`),
        check: (text) => all([JSON.parse(text) as Resource], 1, (one) => familyIs(one, person(n).family)),
      }),
    },
    search(PAGE, ['identifier', (n) => `/Patient?identifier=${person(n).mrn}`, 1, (one, n) => one.id === idOf(n)]),
    {
      what: 'family, rare',
      target: NAME,
      next: (n) => ({
        request: fhir(`/Patient?family=${person(n).family}`),
        check(text) {
          const found = resourcesOf(text);
          all(found, 'some', (one) => familyIs(one, person(n).family));
          if (found.length < COUNT) assert.ok(found.some(({ id }) => id === idOf(n)));
        },
      }),
    },
    search(NAME, [
      'family, of 1.5 %',
      () => `/Patient?family=${common}&${page}`,
      'any',
      (one) => familyIs(one, common),
    ]),
    search(NAME, [
      'family, 2 letters',
      (n) => `/Patient?family=${begins(person(n).family, 2)}&${page}`,
      'some',
      (one, n) => familyIs(one, begins(person(n).family, 2)),
    ]),
    search(NAME, [
      'given and family',
      (n) => `/Patient?given=${person(n).given}&family=${person(n).family}`,
      'some',
      (one, n) => familyIs(one, person(n).family) && givenIs(one, person(n).given),
    ]),
    search(NAME, ['name, a rare part', (n) => `/Patient?name=${part(n)}`, 'some', (one, n) => isNamed(one, part(n))]),
    search(NAME, [
      'name, a common part',
      () => `/Patient?name=${COMMON_GIVEN}&${page}`,
      'any',
      (one) => isNamed(one, COMMON_GIVEN.toLowerCase()),
    ]),
    search(NAME, ['name without a match', () => '/Patient?name=xyzzyxy', 0, () => false]),
    ofCode('code, patient of 50', 'fifty', ownCode),
    ofCode('code, patient of 100,000', 'thousands', mostCode),
    ofCode('rare code, patient of 100,000', 'thousands', RARE_CODE),
    ofCode('no such code, patient of 100,000', 'thousands', '1-1'),
    ofDates('category and date, patient of 50', 'fifty', 30),
    ofDates('category and a day, patient of 100,000', 'thousands', 1),
    search(PAGE, [
      '_lastUpdated, a day',
      () => `/Observation?_lastUpdated=ge${instant(yesterday)}&${page}`,
      COUNT,
      (one) => Date.parse(one.meta.lastUpdated) >= yesterday,
    ]),
    search(PAGE, ['the newest by _sort', () => `/Observation?_sort=-_lastUpdated&${page}`, COUNT, isKind]),
    search(PAGE, ['history of a type', () => `/Observation/_history?${page}`, COUNT, isKind]),
    everything('$everything, patient of 50', 'fifty', 51),
    everything('$everything, patient of 100,000', 'thousands', 51),
    search(PAGE, ['first page', () => `/Observation?${page}`, COUNT, ({ id }) => firstIds.has(id)]),
    search(PAGE, ['hundredth page', () => hundredth, COUNT, ({ id }) => !firstIds.has(id)]),
    {
      what: 'create an Observation',
      target: PAGE,
      next: (n) => ({
        request: fhir(
          '/Observation',
          observationOf(idOf(n), new Date(Math.floor((world.endMs - n * MINUTE_MS) / 1000) * 1000), {
            code: codeOf(5),
            name: 'Measurement 5',
            value: `${n}.50`,
          }),
        ),
        check: () => undefined,
      }),
    },
    message('ADT, new patient', (n) => adt(head(n), 'A04', newcomer(n))),
    message('ADT, patient seen before', (n) => adt(head(n), n % 2 === 0 ? 'A08' : 'A04', person(n))),
    message('ORU, patient with 5,000 results', (n) =>
      oru(head(n), personOf(reports), `${run}${n}`, new Date(world.endMs - n * MINUTE_MS), resultsOf(n)),
    ),
    list(MESSAGES, ['messages, the newest', () => 'messages', 50]),
    list(MESSAGES, [
      'messages by number',
      (n) => `messages?patient=${messaged(n).mrn}`,
      'some',
      (item, n) => names(item, messaged(n).mrn),
    ]),
    list(MESSAGES, [
      'messages by a rare name',
      (n) => `messages?patient=${messaged(n).family}`,
      'some',
      (item) => names(item, 'PID-5'),
    ]),
    list(MESSAGES, [
      'messages by a common name',
      () => `messages?patient=${COMMON_GIVEN}`,
      'any',
      (item) => names(item, 'PID-5'),
    ]),
    list(MESSAGES, [
      'messages by two names',
      (n) => `messages?patient=${messaged(n).family}%20${messaged(n).given}`,
      'some',
      (item) => names(item, 'PID-5'),
    ]),
    list(MESSAGES, [
      'messages by part of a control id',
      (n) => `messages?q=000${10 + (n % 30)}`,
      'some',
      ({ controlId }, n) => String(controlId).includes(`000${10 + (n % 30)}`),
    ]),
    list(MESSAGES, ['rejected messages', () => 'messages?outcome=errors', 'some', isError]),
    list(MESSAGES, ['messages by a reason', () => 'messages?reason=required-field-missing', 'some', isError]),
    list(MESSAGES, [
      'messages of a key',
      () => `messages?clientId=${asker.hl7Client}`,
      50,
      ({ clientId }) => clientId === asker.hl7Client,
    ]),
    list(PAGE, ['audit, the newest', () => 'audit', 50]),
    list(PAGE, ['audit of a patient', (n) => `audit?patient=${idOf(n)}`, 'some', (item, n) => isOf(item, idOf(n))]),
    list(PAGE, [
      'audit of a patient of 100,000',
      () => `audit?patient=${ids.thousands}`,
      50,
      (item) => isOf(item, ids.thousands),
    ]),
    list(PAGE, ['audit by an action', () => 'audit?action=update', 50]),
    {
      what: 'Feeds',
      target: PAGE,
      next: () => ({ request: admin(''), check: (text) => assert.match(text, /Hospital/) }),
    },
    {
      what: 'Traffic, 30 days',
      target: PAGE,
      next: () => ({ request: admin('/api/usage?span=30d'), check: (text) => assert.match(text, /"charts"/) }),
    },
  ];
}
