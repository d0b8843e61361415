/** The requests to a site, with what each answer must have: a wrong answer ends the measurement. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { ALL_PERMISSIONS } from '../../../edge/permissions.ts';
import { sessionSeal } from '../../stack/tools/console.ts';
import type { Operation } from '../load.ts';
import { adt, type MessageHead, oru, type Person } from '../messages.ts';
import type { Stack } from '../stack.ts';
import { codesOf } from './copies.ts';
import { AUTHORITY, COMMON, type LargeSite, observationOf, RARE_PANEL } from './site.ts';

const COUNT = 20;
const PAGE = `_count=${COUNT}`;
const DAY_MS = 86_400_000;
const HOUR_SECONDS = 3600;

/** The limit of a request in a large database: a multiple of its cost with ten thousand patients, or a median in milliseconds. */
type Target = { readonly times: number } | { readonly ms: number };
/** For an answer that does not depend on the size of the database. */
const SAME: Target = { times: 1.3 };
const NAME: Target = { ms: 3 };
const LIST: Target = { ms: 20 };

export interface LargeOperation extends Operation {
  readonly target: Target | undefined;
}

type Known = Person & { readonly id: string };

/** Some patients of a site with messages, from all times. */
async function someOf({ client }: Stack, site: string): Promise<Known[]> {
  const { rows } = await client.query<Known>(
    `select i.id, i.value as mrn, initcap(btrim(s.families, E'\\n')) as family, initcap(btrim(s.givens, E'\\n')) as given,
            s.birth_date as "birthDate", $2 as authority
       from resource_identifier i join patient_search s using (site_id, id)
      where i.site_id = $1 and i.type = 'Patient' and i.value like 'M%'
        and exists (select from hl7_message_key k where k.site_id = $1 and k.key = '#' || lower(i.value))
      order by md5(i.value) limit 100`,
    [site, AUTHORITY],
  );
  return rows;
}

/** The cookie of an administrator with a session. */
async function cookieOf({ client, secrets }: Stack, site: string): Promise<string> {
  const session = randomUUID();
  const { rows } = await client.query<{ siteName: string; timeZone: string }>(
    `select site_name as "siteName", time_zone as "timeZone"
       from console_session_begin($1, $2, 'bench', 'Bench', null, '192.0.2.10', 'bench', $3, null, null)`,
    [site, session, ALL_PERMISSIONS],
  );
  const now = Math.floor(Date.now() / 1000);
  const endsAt = now + HOUR_SECONDS;
  const person = { sub: 'bench', name: 'Bench', permissions: [...ALL_PERMISSIONS], hasOthers: false };
  const content = { session, site, ...person, ...rows[0], endsAt, askedAt: now, mayAsk: false };
  return `__Host-gateway-session=${await sessionSeal({ secrets }).seal(content, endsAt)}`;
}

/** A text, which may be about a patient of the site: another one for each request. */
type Text = string | ((one: Known) => string);
const textOf = (text: Text, one: Known): string => (typeof text === 'string' ? text : text(one));
/** The number of results. */
type Count = number | 'some' | 'any';

interface Answer {
  readonly resourceType?: string;
  readonly entry?: readonly { readonly resource: unknown }[];
  readonly items?: readonly unknown[];
}

/** The resources of a Bundle, the items of a list of the console's API, or the answer itself. */
function itemsOf(answer: string): readonly unknown[] {
  if (answer.startsWith('<')) return [answer];
  const { resourceType, entry = [], items } = JSON.parse(answer) as Answer;
  return items ?? (resourceType === 'Bundle' ? entry.map(({ resource }) => resource) : [answer]);
}

/** @throws if an item lacks one of the texts, without regard to case */
function check(items: readonly unknown[], count: Count, texts: readonly string[]): void {
  if (count === 'some') assert.notEqual(items.length, 0, 'nothing is found');
  else if (count !== 'any') assert.equal(items.length, count);
  for (const item of items.map((one) => JSON.stringify(one).toLowerCase()))
    for (const text of texts) assert.ok(item.includes(text.toLowerCase()), `no ${text} in ${item}`);
}

/** The requests to a site, in the order of the report. */
export async function operationsOf(stack: Stack, of: LargeSite): Promise<LargeOperation[]> {
  const { fhirHeaders, hl7Headers, fhir, fifty, thousands, reports } = of;
  const [code = '', rareCode = ''] = [COMMON.panel, RARE_PANEL].flatMap((panel) => codesOf(panel).slice(-1));
  const some = await someOf(stack, of.site);
  const cookie = await cookieOf(stack, of.site);
  let n = 0;
  const nextPatient = (): Known => some[(n += 1) % some.length] as Known;
  const dayBefore = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
  /** The id of this run, so that no message repeats an earlier one. */
  const run = randomUUID().slice(0, 8);

  /** A GET. @param texts of which each result must have all */
  const get = (
    what: string,
    target: Target | undefined,
    path: Text,
    count: Count,
    ...texts: Text[]
  ): LargeOperation => ({
    what,
    target,
    expected: 200,
    next() {
      const one = nextPatient();
      const expected = texts.map((text) => textOf(text, one));
      const url = textOf(path, one);
      const headers = url.startsWith('/admin') ? { cookie } : fhirHeaders;
      return { path: url, headers, check: (answer) => check(itemsOf(answer), count, expected) };
    },
  });
  const patients = (what: string, query: Text, count: Count, ...texts: Text[]): LargeOperation =>
    get(what, NAME, (one) => `/fhir/Patient?${textOf(query, one)}`, count, ...texts);
  const ofPatient = (what: string, patient: string, query: string, count: Count, ...texts: string[]): LargeOperation =>
    get(what, undefined, `/fhir/Observation?patient=${patient}&${query}&${PAGE}`, count, patient, ...texts);
  const messages = (what: string, query: Text, count: Count, ...texts: Text[]): LargeOperation =>
    get(what, LIST, (one) => `/admin/api/messages?${textOf(query, one)}`, count, ...texts);
  const message = (what: string, textFor: (head: MessageHead, one: Known) => string): LargeOperation => ({
    what,
    target: SAME,
    expected: 200,
    next() {
      const one = nextPatient();
      const body = textFor({ control: `${run}-${n}`, at: new Date() }, one);
      const isRight = (answer: string): void => assert.match(answer, /\rMSA\|AA\|/);
      return { method: 'POST', path: '/hl7/messages', headers: hl7Headers, body, check: isRight };
    },
  });
  const create: LargeOperation = {
    what: 'create an Observation',
    target: SAME,
    expected: 201,
    next() {
      const body = JSON.stringify(observationOf(nextPatient().id, code, dayBefore(1)));
      return { method: 'POST', path: '/fhir/Observation', headers: fhirHeaders, body };
    },
  };

  // A client reaches the hundredth page by the links of ninety-nine others.
  let hundredth = `/Observation?${PAGE}`;
  for (let at = 1; at < 100; at += 1) {
    const { link } = (await fhir(hundredth)) as unknown as { link: { relation: string; url: string }[] };
    hundredth = link.find(({ relation }) => relation === 'next')?.url ?? '';
  }
  const hundredthPath = hundredth.slice(hundredth.indexOf('/fhir/'));
  const common = COMMON.family.slice(0, 6);
  const rarePart = (one: Known): string => one.family.slice(1, 8);
  const twoLetters = (one: Known): string => one.family.slice(0, 2);
  const ofControl = (one: Known): string => one.mrn.slice(4);
  const family = (one: Known): string => one.family;
  const id = (one: Known): string => one.id;
  const [from, to] = [dayBefore(5), dayBefore(4)];
  const dates = (first: string): string => `category=vital-signs&date=ge${first}&date=lt${to}`;
  const coded = (text: string): string => `code=http://loinc.org%7C${text}`;
  const newcomer = { family: 'Newcomer', given: 'Nora', birthDate: '1980-02-03', authority: AUTHORITY };
  const isObservation = '"Observation"';

  return [
    get('read a patient', SAME, (one) => `/fhir/Patient/${one.id}`, 1, id),
    get('identifier', SAME, (one) => `/fhir/Patient?identifier=${one.mrn}`, 1, id),
    patients('family, rare', (one) => `family=${one.family}`, 'some', family),
    patients('family, of 1.5 %', `family=${common}&${PAGE}`, 'any', common),
    patients('family, 2 letters', (one) => `family=${twoLetters(one)}&${PAGE}`, 'some', twoLetters),
    patients('given and family', (one) => `given=${one.given}&family=${one.family}`, 'some', family),
    patients('name, a rare part', (one) => `name=${rarePart(one)}`, 'some', rarePart),
    patients('name, a common part', `name=${COMMON.given}&${PAGE}`, 'any', COMMON.given),
    patients('name without a match', 'name=xyzzyxy', 0),
    ofPatient('code, patient of 50', fifty, coded(code), 10, code),
    ofPatient('code, patient of 100,000', thousands, coded(code), COUNT, code),
    ofPatient('rare code, patient of 100,000', thousands, coded(rareCode), 'some', rareCode),
    ofPatient('no such code, patient of 100,000', thousands, coded('1-1'), 0),
    ofPatient('category and date, patient of 50', fifty, dates(dayBefore(34)), COUNT),
    ofPatient('category and a day, patient of 100,000', thousands, dates(from), COUNT, `"${from}T`),
    get('_lastUpdated, a day', SAME, `/fhir/Observation?_lastUpdated=ge${from}&${PAGE}`, COUNT, isObservation),
    get('the newest by _sort', SAME, `/fhir/Observation?_sort=-_lastUpdated&${PAGE}`, COUNT, isObservation),
    get('history of a type', SAME, `/fhir/Observation/_history?${PAGE}`, COUNT, isObservation),
    get('$everything, patient of 50', SAME, `/fhir/Patient/${fifty}/$everything?_count=51`, 51, fifty),
    get('$everything, patient of 100,000', SAME, `/fhir/Patient/${thousands}/$everything?_count=51`, 51, thousands),
    get('first page', SAME, `/fhir/Observation?${PAGE}`, COUNT, isObservation),
    get('hundredth page', SAME, hundredthPath, COUNT, isObservation),
    create,
    message('ADT, new patient', (head) => adt(head, { ...newcomer, mrn: `N${head.control}` })),
    message('ADT, patient seen before', (head, one) => adt(head, one, n % 2 === 0 ? 'A08' : 'A04')),
    message('ORU, patient with 5,000 results', (head) => oru(head, reports, head.at, [code, rareCode])),
    messages('messages, the newest', '', 50),
    messages(
      'messages by number',
      (one) => `patient=${one.mrn}`,
      'some',
      (one) => one.mrn,
    ),
    messages('messages by a rare name', (one) => `patient=${one.family}`, 'some', 'PID-5'),
    messages('messages by a common name', `patient=${COMMON.given}`, 'any', 'PID-5'),
    messages('messages by two names', (one) => `patient=${one.family}%20${one.given}`, 'some', 'PID-5'),
    messages('messages by part of a control id', (one) => `q=${ofControl(one)}`, 'some', ofControl),
    messages('rejected messages', 'outcome=errors', 'some', '"AE"'),
    messages('messages by a reason', 'reason=required-field-missing', 'some', '"AE"'),
    messages('messages of a key', `clientId=${of.hl7Client}`, 50, of.hl7Client),
    get('audit, the newest', SAME, '/admin/api/audit', 50),
    get('audit of a patient', SAME, (one) => `/admin/api/audit?patient=${one.id}`, 'some', id),
    get('audit of a patient of 100,000', SAME, `/admin/api/audit?patient=${thousands}`, 'some', thousands),
    get('audit by an action', SAME, '/admin/api/audit?action=update', 'some', 'update'),
    get('Feeds', SAME, '/admin', 1, 'Hospital'),
    get('Traffic, 30 days', SAME, '/admin/api/usage?span=30d', 1, 'charts'),
  ];
}
