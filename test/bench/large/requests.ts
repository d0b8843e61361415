/** What is asked of a site, and what must be in each answer: a wrong one ends the measurement. */
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

/** What growth may do to a request: a multiple of its cost among ten thousand patients, or milliseconds at the median. */
export type Target = { readonly times: number } | { readonly ms: number };
/** `page`: an answer of which there is the same in each size. */
const PAGE: Target = { times: 1.3 };
const NAME: Target = { ms: 3 };
const MESSAGES: Target = { ms: 20 };

export interface Asked {
  readonly request: Request;
  /** @throws where the answer is wrong */
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

/** Rows of the console's API. */
const itemsOf = (text: string): Record<string, unknown>[] =>
  (JSON.parse(text) as { readonly items: Record<string, unknown>[] }).items;

/** @param length how many there must be */
function all<T>(found: readonly T[], length: number | 'some' | 'any', holds: (one: T) => boolean): void {
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

/** How many Observations of each code a special patient has. */
function codesOf(world: World, patient: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { seed } of happeningsOf(world, patient))
    for (const { code } of resultsOf(seed)) counts.set(code, (counts.get(code) ?? 0) + 1);
  return counts;
}

const instant = (ms: number): string => new Date(ms).toISOString();

/**
 * @param sample how many patients are asked for in turns
 * @returns what is asked of a site, in the order in which it is shown
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

  const search = (
    what: string,
    path: (n: number) => string,
    check: (found: Resource[], n: number) => void,
    target?: Target,
  ): Operation => ({
    what,
    ...(target === undefined ? {} : { target }),
    next: (n) => ({ request: fhir(path(n)), check: (text) => check(resourcesOf(text), n) }),
  });
  const ofCode = (what: string, of: 'fifty' | 'thousands', code: string): Operation =>
    search(
      what,
      () => `/Observation?patient=${ids[of]}&code=http://loinc.org%7C${code}&_count=${COUNT}`,
      (found) =>
        all(found, Math.min(codes[of].get(code) ?? 0, COUNT), (one) => isOfCode(one, code) && isAbout(one, ids[of])),
    );
  const ofDates = (what: string, of: 'fifty' | 'thousands', days: number): Operation => {
    const to = world.endMs - 10 * DAY_MS;
    const from = to - days * DAY_MS;
    return search(
      what,
      () =>
        `/Observation?patient=${ids[of]}&category=vital-signs&date=ge${instant(from)}&date=lt${instant(to)}&_count=${COUNT}`,
      (found) =>
        all(found, 'some', (one) => {
          const when = Date.parse(one.effectiveDateTime ?? '');
          return (
            isAbout(one, ids[of]) && when >= from && when < to && one.category?.[0]?.coding[0]?.code === 'vital-signs'
          );
        }),
    );
  };
  const everything = (what: string, of: 'fifty' | 'thousands', length: number): Operation => ({
    what,
    target: PAGE,
    next: () => ({
      request: fhir(`/Patient/${ids[of]}/$everything?_count=${length}`),
      check: (text) => all(resourcesOf(text), length, (one) => one.id === ids[of] || isAbout(one, ids[of])),
    }),
  });
  const list = (
    what: string,
    path: (n: number) => string,
    check: (items: Record<string, unknown>[], n: number) => void,
    target?: Target,
  ): Operation => ({
    what,
    ...(target === undefined ? {} : { target }),
    next: (n) => ({ request: admin(path(n)), check: (text) => check(itemsOf(text), n) }),
  });
  const isAccepted = (text: string): void => assert.match(text, /\rMSA\|AA\|/);
  /** Of this run, so that no message is one that was sent before. */
  const run = randomUUID().slice(0, 8);
  const head = (n: number) => ({ control: `${run}-${n}`, at: new Date(Math.floor(Date.now() / 1000) * 1000) });
  const newcomer = (n: number): Person => ({
    mrn: `N${run}${n}`,
    family: 'Newcomer',
    given: 'Nora',
    birthDate: '1980-02-03',
  });
  /** Of whom messages tell. */
  const known = some.filter(isOfMessage);
  const told = (n: number): Person => personOf(known[n % known.length] ?? reports);

  /** The page behind ninety-nine others, as a client comes to it. */
  let first = await gateway.ask(fhir(`/Observation?_count=${COUNT}`));
  const firstIds = new Set(resourcesOf(first).map(({ id }) => id));
  for (let page = 1; page < 99; page += 1) first = await gateway.ask(fhir(nextOf(first) ?? ''));
  const hundredth = nextOf(first) ?? '';

  return [
    {
      what: 'read a patient',
      target: PAGE,
      next: (n) => ({
        request: fhir(`/Patient/${patientId(world, at(n))}`),
        check: (text) => all([JSON.parse(text) as Resource], 1, (one) => familyIs(one, personOf(at(n)).family)),
      }),
    },
    search(
      'identifier',
      (n) => `/Patient?identifier=${personOf(at(n)).mrn}`,
      (found, n) => all(found, 1, (one) => one.id === patientId(world, at(n))),
      PAGE,
    ),
    search(
      'family, rare',
      (n) => `/Patient?family=${personOf(at(n)).family}`,
      (found, n) => {
        all(found, 'some', (one) => familyIs(one, personOf(at(n)).family));
        if (found.length < COUNT) assert.ok(found.some(({ id }) => id === patientId(world, at(n))));
      },
      NAME,
    ),
    search(
      'family, of 1.5 %',
      () => `/Patient?family=${COMMON_FAMILY.slice(0, 6)}&_count=${COUNT}`,
      (found) => all(found, 'any', (one) => familyIs(one, COMMON_FAMILY.slice(0, 6))),
      NAME,
    ),
    search(
      'family, 2 letters',
      (n) => `/Patient?family=${personOf(at(n)).family.slice(0, 2)}&_count=${COUNT}`,
      (found, n) => all(found, 'some', (one) => familyIs(one, personOf(at(n)).family.slice(0, 2))),
      NAME,
    ),
    search(
      'given and family',
      (n) => `/Patient?given=${personOf(at(n)).given}&family=${personOf(at(n)).family}`,
      (found, n) =>
        all(found, 'some', (one) => familyIs(one, personOf(at(n)).family) && givenIs(one, personOf(at(n)).given)),
      NAME,
    ),
    search(
      'name, a rare part',
      (n) => `/Patient?name=${personOf(at(n)).family.slice(1, 8)}`,
      (found, n) =>
        all(found, 'some', (one) =>
          JSON.stringify(one.name)
            .toLowerCase()
            .includes(personOf(at(n)).family.slice(1, 8)),
        ),
      NAME,
    ),
    search(
      'name, a common part',
      () => `/Patient?name=${COMMON_GIVEN}&_count=${COUNT}`,
      (found) => all(found, 'any', (one) => JSON.stringify(one.name).toLowerCase().includes('anna')),
      NAME,
    ),
    search(
      'name of nobody',
      () => '/Patient?name=xyzzyxy',
      (found) => all(found, 0, () => false),
      NAME,
    ),
    ofCode('code, patient of 50', 'fifty', ownCode),
    ofCode('code, patient of 100,000', 'thousands', mostCode),
    ofCode('rare code, patient of 100,000', 'thousands', RARE_CODE),
    ofCode('no such code, patient of 100,000', 'thousands', '1-1'),
    ofDates('category and date, patient of 50', 'fifty', 30),
    ofDates('category and a day, patient of 100,000', 'thousands', 1),
    search(
      '_lastUpdated, a day',
      () => `/Observation?_lastUpdated=ge${instant(world.endMs - DAY_MS)}&_count=${COUNT}`,
      (found) => all(found, COUNT, (one) => Date.parse(one.meta.lastUpdated) >= world.endMs - DAY_MS),
      PAGE,
    ),
    search(
      'the newest by _sort',
      () => `/Observation?_sort=-_lastUpdated&_count=${COUNT}`,
      (found) => all(found, COUNT, ({ resourceType }) => resourceType === 'Observation'),
      PAGE,
    ),
    search(
      'history of a type',
      () => `/Observation/_history?_count=${COUNT}`,
      (found) => all(found, COUNT, ({ resourceType }) => resourceType === 'Observation'),
      PAGE,
    ),
    everything('$everything, patient of 50', 'fifty', 51),
    everything('$everything, patient of 100,000', 'thousands', 51),
    search(
      'first page',
      () => `/Observation?_count=${COUNT}`,
      (found) => all(found, COUNT, ({ id }) => firstIds.has(id)),
      PAGE,
    ),
    search(
      'hundredth page',
      () => hundredth,
      (found) => all(found, COUNT, ({ id }) => !firstIds.has(id)),
      PAGE,
    ),
    {
      what: 'create an Observation',
      target: PAGE,
      next: (n) => ({
        request: fhir(
          '/Observation',
          observationOf(patientId(world, at(n)), new Date(Math.floor((world.endMs - n * MINUTE_MS) / 1000) * 1000), {
            code: codeOf(5),
            name: 'Measurement 5',
            value: `${n}.50`,
          }),
        ),
        check: () => undefined,
      }),
    },
    {
      what: 'ADT, new patient',
      target: PAGE,
      next: (n) => ({ request: hl7(adt(head(n), 'A04', newcomer(n))), check: isAccepted }),
    },
    {
      what: 'ADT, patient seen before',
      target: PAGE,
      next: (n) => ({ request: hl7(adt(head(n), n % 2 === 0 ? 'A08' : 'A04', personOf(at(n)))), check: isAccepted }),
    },
    {
      what: 'ORU, patient with 5,000 results',
      target: PAGE,
      next: (n) => ({
        request: hl7(
          oru(head(n), personOf(reports), `${run}${n}`, new Date(world.endMs - n * MINUTE_MS), resultsOf(n)),
        ),
        check: isAccepted,
      }),
    },
    list(
      'messages, the newest',
      () => '/api/messages',
      (items) => all(items, 50, () => true),
      MESSAGES,
    ),
    list(
      'messages by number',
      (n) => `/api/messages?patient=${told(n).mrn}`,
      (items, n) => all(items, 'some', ({ named }) => JSON.stringify(named).includes(told(n).mrn)),
      MESSAGES,
    ),
    list(
      'messages by a rare name',
      (n) => `/api/messages?patient=${told(n).family}`,
      (items, n) => all(items, 'some', ({ named }) => JSON.stringify(named).includes('PID-5') && n >= 0),
      MESSAGES,
    ),
    list(
      'messages by a common name',
      () => `/api/messages?patient=${COMMON_GIVEN}`,
      (items) => all(items, 'any', ({ named }) => JSON.stringify(named).includes('PID-5')),
      MESSAGES,
    ),
    list(
      'messages by two names',
      (n) => `/api/messages?patient=${told(n).family}%20${told(n).given}`,
      (items) => all(items, 'some', ({ named }) => JSON.stringify(named).includes('PID-5')),
      MESSAGES,
    ),
    list(
      'messages by part of a control id',
      (n) => `/api/messages?q=000${10 + (n % 30)}`,
      (items, n) => all(items, 'some', ({ controlId }) => String(controlId).includes(`000${10 + (n % 30)}`)),
      MESSAGES,
    ),
    list(
      'messages that were refused',
      () => '/api/messages?outcome=errors',
      (items) => all(items, 'some', ({ outcome }) => outcome === 'AE'),
      MESSAGES,
    ),
    list(
      'messages by a reason',
      () => '/api/messages?reason=required-field-missing',
      (items) => all(items, 'some', ({ outcome }) => outcome === 'AE'),
      MESSAGES,
    ),
    list(
      'messages of a key',
      () => `/api/messages?clientId=${asker.hl7Client}`,
      (items) => all(items, 50, ({ clientId }) => clientId === asker.hl7Client),
      MESSAGES,
    ),
    list(
      'audit, the newest',
      () => '/api/audit',
      (items) => all(items, 50, () => true),
      PAGE,
    ),
    list(
      'audit of a patient',
      (n) => `/api/audit?patient=${patientId(world, at(n))}`,
      (items, n) => all(items, 'some', ({ patients }) => (patients as string[]).includes(patientId(world, at(n)))),
      PAGE,
    ),
    list(
      'audit of a patient of 100,000',
      () => `/api/audit?patient=${ids.thousands}`,
      (items) => all(items, 50, ({ patients }) => (patients as string[]).includes(ids.thousands)),
      PAGE,
    ),
    list(
      'audit by an action',
      () => '/api/audit?action=update',
      (items) => all(items, 50, () => true),
      PAGE,
    ),
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
