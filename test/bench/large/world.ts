/**
 * The patients of a hundred sites and their events. One site has half of the patients. Everything is calculated from numbers, so
 * that the measurement knows the loaded data without reading it.
 */
import { GIVEN, SYLLABLES } from '../../inputs/population.ts';
import type { Person, Result } from './messages.ts';

export const SITES = 100;
/** The site with half of the patients. The other sites have equal shares of the rest. */
export const LARGE = 0;
export const SMALL = 7;

/** The days before now in which all events happened. */
const DAYS = 60;
const DAY_MS = 86_400_000;

/** A family name of 1.5 % of the patients. */
export const COMMON_FAMILY = 'Smithson';
const COMMON_SHARE = 0.015;
export const COMMON_GIVEN = 'Anna';

const GIVEN_NAMES = GIVEN.split(' ').map(capital);
const PARTS = SYLLABLES.split(' ');
function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A number in [0, 1) without a pattern; equal for equal arguments. */
export function random(n: number, salt: number): number {
  let h = Math.imul(n ^ Math.imul(salt + 1, 0x9e3779b1), 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  h = Math.imul(h, 0x27d4eb2f);
  return ((h ^ (h >>> 15)) >>> 0) / 2 ** 32;
}
const below = (n: number, salt: number, count: number): number => Math.floor(random(n, salt) * count);
const among = (list: readonly string[], n: number, salt: number): string => list[below(n, salt, list.length)] ?? '';

/** Patients with more resources than others, in the large and in the small site. */
export const SPECIALS = ['fifty', 'thousands', 'reports'] as const;
export type Special = (typeof SPECIALS)[number];
/** The number of their events with five Observations, by FHIR or by messages. */
const TIMES: Readonly<Record<Special, number>> = { fifty: 10, thousands: 20_000, reports: 1_000 };
const SPECIAL_SITES = [LARGE, SMALL];

/** The number of a special patient, which is negative. */
export const specialOf = (site: number, special: Special): number =>
  -1 - SPECIAL_SITES.indexOf(site) * SPECIALS.length - SPECIALS.indexOf(special);
export const ALL_SPECIALS: readonly number[] = SPECIAL_SITES.flatMap((site) =>
  SPECIALS.map((special) => specialOf(site, special)),
);
const kindOf = (patient: number): Special => SPECIALS[(-1 - patient) % SPECIALS.length] ?? 'fifty';

export interface World {
  readonly patients: number;
  readonly startMs: number;
  readonly endMs: number;
}

export const worldOf = (patients: number, endMs: number): World => ({
  patients,
  startMs: endMs - DAYS * DAY_MS,
  endMs,
});

export function siteOf(patient: number): number {
  if (patient < 0) return SPECIAL_SITES[Math.floor((-1 - patient) / SPECIALS.length)] ?? LARGE;
  return random(patient, 1) < 0.5 ? LARGE : 1 + below(patient, 2, SITES - 1);
}

export function personOf(patient: number): Person {
  const family =
    random(patient, 3) < COMMON_SHARE
      ? COMMON_FAMILY
      : capital([4, 5, 6].map((salt) => among(PARTS, patient, salt)).join(''));
  const day = new Date(Date.UTC(1930, 0, 1 + below(patient, 7, 33_000))).toISOString().slice(0, 10);
  return { mrn: `M${10_000_000 + patient}`, family, given: among(GIVEN_NAMES, patient, 8), birthDate: day };
}

/** True if a message created the patient; else a FHIR client did. Special patients are from messages. */
export const isOfMessage = (patient: number): boolean => random(patient, 9) < 0.6 || patient < 0;
/** True for patients with a second message. */
export const hasMoved = (patient: number): boolean => random(patient, 10) < 1 / 6;

/** The time of the nth of several events. */
export const momentOf = ({ startMs, endMs }: World, n: number, of: number): number =>
  Math.floor(startMs + ((n + 0.5) / of) * (endMs - startMs));

export const createdAt = (world: World, patient: number): number =>
  patient < 0 ? world.startMs : momentOf(world, patient, world.patients);

/** UUIDv7s with the time of an event. `n` distinguishes the ids of one event, `thing` the events. */
export function idsOf(atMs: number, thing: number): (n: number) => string {
  const time = atMs.toString(16).padStart(12, '0');
  const start = `${time.slice(0, 8)}-${time.slice(8)}-7`;
  const end = `-8000-${(thing < 0 ? 2 ** 40 - thing : thing).toString(16).padStart(12, '0')}`;
  return (n) => start + n.toString(16).padStart(3, '0') + end;
}
const PATIENT = 0xfff;
export const patientId = (world: World, patient: number): string => idsOf(createdAt(world, patient), patient)(PATIENT);

/** A panel has five results. There are forty panels, some common and some rare. */
const PANELS = 40;
export const PANEL = 5;
export const codeOf = (code: number): string => `${20_000 + code}-${code % 10}`;
export const COMMON_CODE = codeOf(0);
export const RARE_CODE = codeOf(PANELS * PANEL - 1);

export function resultsOf(seed: number): Result[] {
  const panel = Math.floor(PANELS * random(seed, 11) ** 3);
  return Array.from({ length: PANEL }, (_, n) => {
    const code = panel * PANEL + n;
    return { code: codeOf(code), name: `Measurement ${code}`, value: `${10 + below(seed, 12 + n, 90)}.50` };
  });
}

/** An event of a patient: five Observations of a FHIR client, or a message with a report of five. */
export interface Happening {
  readonly kind: 'observed' | 'reported';
  readonly patient: number;
  readonly atMs: number;
  /** The seed of its results. */
  readonly seed: number;
}

/** All events of a special patient, in order. */
export function* happeningsOf(world: World, patient: number): Generator<Happening> {
  const special = kindOf(patient);
  const times = TIMES[special];
  for (let n = 0; n < times; n += 1) {
    const atMs = momentOf(world, n, times);
    yield { kind: special === 'reports' ? 'reported' : 'observed', patient, atMs, seed: patient * 100_003 - n };
  }
}

/** The events of other patients at the registration of the nth patient. */
export function happeningsAt(world: World, n: number): Happening[] {
  const atMs = momentOf(world, n, world.patients) + 1;
  const one = (kind: Happening['kind'], salt: number, share: number): Happening[] =>
    random(n, salt) < share
      ? [{ kind, patient: below(n, salt + 1, n + 1), atMs, seed: n * 2 + (kind === 'observed' ? 1 : 0) }]
      : [];
  return [...one('reported', 20, 0.3), ...one('observed', 22, 0.7)];
}

/** Some patients of a site from all times, without special patients. */
export function someOf(world: World, site: number, count: number): number[] {
  const found: number[] = [];
  const step = Math.max(1, Math.floor(world.patients / (count * (site === LARGE ? 2 : 2 * (SITES - 1)) * 2)));
  for (let n = Math.floor(step / 2); n < world.patients && found.length < count; n += step)
    if (siteOf(n) === site) found.push(n);
  return found;
}
