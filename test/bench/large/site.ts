/** The events of hospitals, and a hundred sites that are full of them. One site has half of the patients. */
import type { ProgressLine } from '../../../edge/platform/node/progress-line.ts';
import { GIVEN, SYLLABLES } from '../../inputs/population.ts';
import { createApiKey, createSite } from '../../stack/services/seed.ts';
import { getToken } from '../../stack/services/client.ts';
import { randomFrom } from '../../stack/tools/random.ts';
import { withoutAnyGuards } from '../../stack/tools/without-guards.ts';
import { adt, adtWithoutNumber, oru, type Person } from '../messages.ts';
import type { Stack } from '../stack.ts';
import { BUCKET_MS, bucketOf, codesOf, type Copy, copyAll, MARK, record, RESULT_TIME, type Site } from './copies.ts';

const SITES = 100;
/** The days before now in which all events happened. */
const DAYS = 60;
const DAY_MS = 86_400_000;
/** There are forty panels, some common and some rare. */
const PANELS = 40;
/** The most common panel, and names of 1.5 % and 5 % of the patients. */
export const COMMON = { panel: 100, family: 'Smithson', given: 'Anna' } as const;
export const RARE_PANEL = COMMON.panel + PANELS - 1;
/** The assigning authority of the identifiers. */
const OID = '1.2.276.0.76.3.1.99';
export const AUTHORITY = `&${OID}&ISO`;

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const GIVEN_NAMES = GIVEN.split(' ').map(capital);
const SYLLABLE_LIST = SYLLABLES.split(' ');

/** The results of a day are all of one time. */
const collectedOn = (day: string): Date => new Date(`${day}T${RESULT_TIME}Z`);

const patientOf = ({ mrn, family, given, birthDate }: Person) => ({
  resourceType: 'Patient',
  identifier: [{ system: `urn:oid:${OID}`, value: mrn }],
  name: [{ family, given: [given] }],
  gender: 'female',
  birthDate,
});

export const observationOf = (patient: string, code: string, day: string) => ({
  resourceType: 'Observation',
  status: 'final',
  category: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
  ],
  code: { coding: [{ system: 'http://loinc.org', code, display: 'Measurement' }] },
  subject: { reference: `Patient/${patient}` },
  effectiveDateTime: `${day}T${RESULT_TIME}Z`,
  valueQuantity: { value: 71.5, unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' },
});

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Requests of the clients of a site. */
interface Clients extends Site {
  readonly fhirHeaders: Readonly<Record<string, string>>;
  readonly hl7Headers: Readonly<Record<string, string>>;
  /** @returns the answer's JSON or text @throws for an answer that is not a success */
  readonly fhir: (path: string, body?: object, method?: string) => Promise<Readonly<Record<string, unknown>>>;
  readonly hl7: (message: string) => Promise<string>;
}

async function addClients({ client, url }: Stack, name: string): Promise<Clients> {
  const site = await createSite(client, { name });
  const add = (keyName: string, protocol: string) =>
    createApiKey(client, { site, name: keyName, protocols: [protocol], tokenTtlSeconds: 3600 });
  const [portal, hospital] = [await add('Portal', 'fhir'), await add('Hospital', 'hl7')];
  const fhirHeaders = {
    Authorization: `Bearer ${await getToken(url, portal, { audience: 'svc-fhir' })}`,
    'Content-Type': 'application/fhir+json',
  };
  const hl7Headers = {
    Authorization: `Bearer ${await getToken(url, hospital, { audience: 'svc-hl7-http' })}`,
    'Content-Type': 'text/plain',
  };
  const send = async (path: string, init: RequestInit): Promise<string> => {
    const answer = await fetch(path.startsWith('http') ? path : `${url}${path}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  };
  return {
    site,
    fhirClient: portal.clientId,
    hl7Client: hospital.clientId,
    fhirHeaders,
    hl7Headers,
    async fhir(path, body, method = body === undefined ? 'GET' : 'POST') {
      const init = { method, headers: fhirHeaders, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      return JSON.parse(await send(path.startsWith('http') ? path : `/fhir${path}`, init)) as Record<string, unknown>;
    },
    hl7: (body) => send('/hl7/messages', { method: 'POST', headers: hl7Headers, body }),
  };
}

/** Five Observations of a FHIR client. @returns the id of the first */
async function observe({ fhir }: Clients, patient: string, day: string, panel: number | string): Promise<string> {
  const entry = codesOf(panel).map((code) => ({
    resource: observationOf(patient, code, day),
    request: { method: 'POST', url: 'Observation' },
  }));
  const answer = await fhir('', { resourceType: 'Bundle', type: 'transaction', entry });
  return /Observation\/([0-9a-f-]{36})/.exec(JSON.stringify(answer))?.[1] ?? '';
}

/** Patients in each copy of the common events. */
const PATIENTS = 20;
/** How many of them. A FHIR client creates the patients that no message admits. */
const ARE = { admitted: 12, moved: 3, reported: 6, observed: 14, corrected: 3 };

/** The events of most patients: on average five Observations, one message and a search for each. */
async function commonEvents(clients: Clients): Promise<void> {
  const { fhir, hl7 } = clients;
  for (let k = 0; k < PATIENTS; k += 1) {
    const tail = SYLLABLE_LIST[k % 10] ?? '';
    const person: Person = {
      mrn: `M${MARK.number}${10 + k}`,
      family: `${MARK.family}${tail}`,
      given: GIVEN_NAMES[k] ?? '',
      birthDate: MARK.birthDate,
      authority: AUTHORITY,
    };
    const head = { control: `C${MARK.number}${10 + k}`, at: new Date() };
    if (k < ARE.admitted) await hl7(adt(head, person));
    else await fhir('/Patient', patientOf(person));
    if (k < ARE.moved) await hl7(adt({ ...head, control: `${head.control}M` }, person, 'A08'));
    if (k < ARE.reported)
      await hl7(oru({ ...head, control: `${head.control}R` }, person, collectedOn(MARK.day), codesOf(MARK.code)));
    const found = await fhir(`/Patient?identifier=${person.mrn}`);
    const id = /Patient\/([0-9a-f-]{36})/.exec(JSON.stringify(found))?.[1] ?? '';
    if (k < ARE.observed) {
      const observation = await observe(clients, id, MARK.day, MARK.code);
      const changed = {
        ...observationOf(id, codesOf(MARK.code)[0] ?? '', MARK.day),
        id: observation,
        status: 'amended',
      };
      if (k < ARE.corrected) await fhir(`/Observation/${observation}`, changed, 'PUT');
    }
  }
}

/** A site with patients who have more resources than others. */
export interface LargeSite extends Clients {
  /** Has fifty Observations. */
  readonly fifty: string;
  /** Has a hundred thousand Observations. */
  readonly thousands: string;
  /** Has a thousand reports of five results. */
  readonly reports: Person;
}

const SPECIAL = { family: 'Special', birthDate: '1950-01-02', authority: AUTHORITY };
const TIMES = { fifty: 10, thousands: 20_000, reports: 1_000 } as const;
/** A message without PID-3 is rejected. There is one for so many patients. */
const REFUSED_EACH = 500;
const COMMON_SHARE = 0.015;

/** Fills a hundred sites. @returns the large one and a small one */
export async function fillSites(
  stack: Stack,
  patients: number,
  progress: ProgressLine,
  say: (what: string) => void,
): Promise<{ readonly large: LargeSite; readonly small: LargeSite }> {
  const { client, databaseUrl } = stack;
  const random = randomFrom(1);
  const among = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const sites: Clients[] = [];
  for (let n = 0; n < SITES; n += 1) sites.push(await addClients(stack, `Site ${n}`));
  const [large, small] = sites;
  if (large === undefined || small === undefined) throw new TypeError('no sites');

  let number = 0;
  const newest = bucketOf(Date.now()) - 1;
  const oldest = newest - Math.floor((DAYS * DAY_MS) / BUCKET_MS);
  /** Copies evenly over the days. @param siteOf the site of the nth */
  const copies = (count: number, siteOf: (n: number) => Site): Copy[] =>
    Array.from({ length: count }, (_, n): Copy => {
      const bucket = Math.floor(oldest + ((n + 0.5) / count) * (newest - oldest));
      const { site, fhirClient, hl7Client } = siteOf(n);
      return {
        site,
        fhirClient,
        hl7Client,
        bucket,
        number: String((number += 1)).padStart(7, '0'),
        family: random() < COMMON_SHARE ? COMMON.family : capital(among(SYLLABLE_LIST) + among(SYLLABLE_LIST)),
        code: String(COMMON.panel + Math.floor(PANELS * random() ** 3)),
        birthDate: dayOf(Date.UTC(1930, 0, 1 + Math.floor(random() * 33_000))),
        day: dayOf(bucket * BUCKET_MS),
      };
    });
  const anySite = (n: number): Site => (n % 2 === 0 ? large : (sites[1 + (((n - 1) / 2) % (SITES - 1))] ?? large));

  say('events');
  const recorder = await addClients(stack, 'Recorded');
  const common = await record(client, recorder, () => commonEvents(recorder));
  const refused = await record(client, recorder, () =>
    recorder.hl7(adtWithoutNumber({ control: `C${MARK.number}10`, at: new Date() })).catch(() => undefined),
  );
  const sets = [
    { recording: common, copies: copies(Math.ceil(patients / PATIENTS), anySite) },
    { recording: refused, copies: copies(Math.ceil(patients / REFUSED_EACH), anySite) },
  ];
  const addSpecials = async (clients: Clients): Promise<LargeSite> => {
    const add = async (name: string) => {
      const person = { ...SPECIAL, mrn: `S-${name}`, given: capital(name) };
      const { id } = await clients.fhir('/Patient', patientOf(person));
      return { id: String(id), person };
    };
    const [fifty, thousands, reports] = [await add('fifty'), await add('thousands'), await add('reports')];
    const day = dayOf(Date.now() - 5 * DAY_MS);
    for (let n = 0; n < TIMES.fifty; n += 1) await observe(clients, fifty.id, day, COMMON.panel);
    const addCopies = async (events: () => Promise<unknown>, patient: string, count: number): Promise<void> => {
      const recording = await record(client, clients, events, patient);
      sets.push({ recording, copies: copies(count, () => clients) });
    };
    await addCopies(() => observe(clients, thousands.id, MARK.day, MARK.code), thousands.id, TIMES.thousands);
    const head = { control: `S${MARK.number}`, at: new Date() };
    const report = oru(head, reports.person, collectedOn(MARK.day), codesOf(MARK.code));
    await addCopies(() => clients.hl7(report), reports.id, TIMES.reports);
    return { ...clients, fifty: fifty.id, thousands: thousands.id, reports: reports.person };
  };
  const filled = { large: await addSpecials(large), small: await addSpecials(small) };

  say(`${patients} patients`);
  await withoutAnyGuards({
    url: databaseUrl,
    tables: [...new Set(sets.flatMap(({ recording }) => [...recording.tables.keys()]))],
    // Two indexes are made at a time, and each sorts in memory of this size.
    connections: 2,
    settings: `set maintenance_work_mem = '1GB'; set max_parallel_maintenance_workers = 0`,
    async load() {
      await copyAll(client, sets, progress.show);
      progress.end();
      for (const statement of COUNTS) await client.query(statement);
      say('indexes');
    },
    made: progress.show,
  });
  progress.end();
  say('statistics');
  // Autovacuum does it in production.
  await client.query('vacuum analyze');
  return filled;
}

const QUARTER = (column: string): string => `date_bin('15 minutes', ${column}, 'epoch')`;
/** Every request counts in the third bucket (edge/store/usage.ts). */
const LATENCY = 'array[0, 0, count(*), 0, 0, 0, 0, 0, 0, 0, 0, 0]::bigint[]';
/** The counts that background work would have made from the answers. */
const COUNTS: readonly string[] = [
  'truncate usage, feed, key_usage',
  `insert into usage (site_id, bucket, surface, outcome, requests, latency)
   select site_id, ${QUARTER('received_at')}, 'hl7', case outcome when 'AA' then 'ok' else 'refused' end, count(*), ${LATENCY}
     from hl7_message group by 1, 2, 4`,
  `insert into usage (site_id, bucket, surface, outcome, requests, latency)
   select site_id, ${QUARTER('at')}, 'fhir', 'ok', count(*), ${LATENCY} from audit where actor_kind = 'key' and action <> 'message' group by 1, 2`,
  `insert into feed (site_id, client_id, surface, application, facility, first_at, last_at)
   select site_id, client_id, 'hl7', sending_application, sending_facility, min(received_at), max(received_at)
     from hl7_message group by 1, 2, 4, 5`,
  `insert into key_usage (site_id, client_id, bucket, surface, application, facility, accepted, refused, rejected)
   select site_id, client_id, ${QUARTER('received_at')}, 'hl7', sending_application, sending_facility,
          count(*) filter (where outcome = 'AA'), count(*) filter (where outcome = 'AE'), count(*) filter (where outcome = 'AR')
     from hl7_message group by 1, 2, 3, 5, 6`,
];
