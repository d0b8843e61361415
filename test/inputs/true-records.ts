/**
 * Compares the patient records of a site with the truth after simulated messages. The truth is about the simulated people:
 * their identifiers, results, documents and times.
 */
import { Buffer } from 'node:buffer';

import type { Client } from 'pg';

import { isJsonObject, parseJson, type Json, type JsonObject } from '../../shared/json.ts';
import { TOKENS, type Fact, type SimulatedMessage } from './simulated-hospital.ts';

interface StoredRecord {
  readonly type: string;
  readonly id: string;
  /** The id of a Patient itself, or of its patient. */
  readonly patient: string;
  readonly replacedBy: string | null;
  readonly content: JsonObject;
  readonly tokens: readonly number[];
}

interface StoredIssue {
  readonly kind: string;
  readonly patients: readonly string[];
  readonly text: string;
  readonly controlId: string | null;
}

export interface StoredState {
  readonly records: readonly StoredRecord[];
  readonly issues: readonly StoredIssue[];
  /** `NORTH 1001` and the patient that it leads to. */
  readonly identifiers: readonly (readonly [identifier: string, patient: string])[];
}

/** The members of a resource that have its value. */
const SAYING = ['code', 'valueQuantity', 'valueString', 'conclusion', 'content'];
const DATA = /"data":"([^"]+)"/g;
const saidIn = (content: JsonObject): string =>
  JSON.stringify(SAYING.map((name) => content[name])).replaceAll(DATA, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );

const AUTHORITIES: readonly (readonly [RegExp, string])[] = [
  [/1\.2\.3\.1$|north/i, 'NORTH'],
  [/1\.2\.3\.2$|south/i, 'SOUTH'],
  [/1\.2\.3\.9$|epi/i, 'EPI'],
];

export async function readRecords(client: Pick<Client, 'query'>, site: string): Promise<StoredState> {
  const { rows } = await client.query<{
    type: string;
    id: string;
    patient: string | null;
    replaced_by: string | null;
    body: string;
  }>(
    `select type, id, patient_id as patient, replaced_by, body from resource where site_id = $1
      order by id`,
    [site],
  );
  const { rows: issues } = await client.query<{
    kind: string;
    patients: string[];
    text: string;
    control_id: string | null;
  }>(
    `select a.kind, array_remove(array[a.patient_a, a.patient_b], null)::text[] as patients,
            concat_ws(' ', a.about, a.detail::text) as text, m.control_id
       from attention a left join issue_message i using (site_id, issue_id)
       left join hl7_message m on m.site_id = a.site_id and m.message_id in (i.message_id, a.message_id)
      where a.site_id = $1`,
    [site],
  );
  const { rows: identifiers } = await client.query<{ authority: string; value: string; id: string }>(
    'select distinct authority, value, id from patient_identity where site_id = $1 and led',
    [site],
  );
  return {
    records: rows.map(({ type, id, patient, replaced_by: replacedBy, body }) => {
      const content = contentOf(body);
      const tokens = [...new Set(saidIn(content).match(TOKENS) ?? [])].map(Number);
      return { type, id, patient: patient ?? id, replacedBy, content, tokens };
    }),
    issues: issues.map(({ kind, patients, text, control_id: controlId }) => ({ kind, patients, text, controlId })),
    identifiers: identifiers.map(({ authority, value, id }) => {
      const name = AUTHORITIES.find(([pattern]) => pattern.test(authority))?.[1] ?? authority;
      return [`${name} ${value}`, id];
    }),
  };
}

function contentOf(body: string): JsonObject {
  const content = parseJson(`{${body}}`);
  if (!isJsonObject(content)) throw new TypeError('a resource is an object');
  return content;
}

const codeOf = (concept: Json | undefined): string =>
  /"code":"([a-z-]+)"/.exec(JSON.stringify(concept ?? {}))?.[1] ?? '';

/** A record that says its value now. */
function isLive({ type, content }: StoredRecord): boolean {
  if (type === 'DocumentReference') return content['status'] === 'current';
  if (type === 'AllergyIntolerance') return codeOf(content['verificationStatus']) !== 'entered-in-error';
  return content['status'] !== 'entered-in-error' && content['status'] !== 'cancelled';
}

/** Types with one record for each true thing. */
const COUNTED: ReadonlySet<string> = new Set(['Observation', 'DocumentReference', 'AllergyIntolerance']);
/** Issues that list two patient records of one person. */
const ABOUT_PERSONS: ReadonlySet<string> = new Set(['possible-duplicate', 'merge-unresolved']);

/** The newest statement counts; a final value changes only by correction or withdrawal (HL7 table 0085). */
function currentOf(said: readonly Fact[]): Fact | undefined {
  const withdrawn = said.findLastIndex(({ state }) => state === 'withdrawn' || state === 'omitted');
  const after = said.slice(withdrawn + 1);
  return after.findLast(({ state }) => state !== 'preliminary') ?? after.at(-1);
}

/**
 * @param outcomes the answer to each sent message: `AA`, or another code with the errors
 * @returns each message that was rejected without a reason, and each difference between the records and the truth that the
 *   administrator's list does not show
 */
export function untrueRecords(
  all: readonly SimulatedMessage[],
  outcomes: ReadonlyMap<SimulatedMessage, string>,
  { records, issues, identifiers }: StoredState,
): readonly string[] {
  const problems: string[] = [];
  const accepted = [...outcomes].flatMap(([message, outcome]) => (outcome === 'AA' ? [message] : []));
  const uncertain = new Set([...outcomes.keys()].filter(({ isUncertain }) => isUncertain).map(({ person }) => person));
  for (const [{ controlId, person }, outcome] of outcomes)
    if (outcome !== 'AA' && !uncertain.has(person)) problems.push(`${controlId} of ${person} is ${outcome}`);
  const byTime = accepted.toSorted((a, b) => a.ms - b.ms);
  const personOfToken = new Map<number, string>();
  const personOfNumber = new Map<string, string>();
  const componentOfToken = new Map<number, string>();
  const acceptedTokens = new Set<number>();
  const components = joined(accepted.map(({ numbers }) => numbers));
  const orders = joined(accepted.map((message) => message.orders));
  for (const message of all) {
    for (const number of message.numbers) personOfNumber.set(number, message.person);
    for (const { token } of message.facts) if (token !== null) personOfToken.set(token, message.person);
  }
  for (const { facts, numbers } of accepted)
    for (const { token } of facts)
      if (token !== null) {
        acceptedTokens.add(token);
        componentOfToken.set(token, components(numbers[0] ?? ''));
      }

  const patients = new Map(records.flatMap((each) => (each.type === 'Patient' ? [[each.id, each] as const] : [])));
  const survivorOf = (id: string): string => {
    const next = patients.get(id)?.replacedBy ?? null;
    return next === null || next === id ? id : survivorOf(next);
  };

  // No two persons in one record.
  const people = new Map<string, Set<string>>();
  const recordsOf = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, key: string, value: string) =>
    map.set(key, (map.get(key) ?? new Set()).add(value));
  for (const { type, id, patient, tokens } of records) {
    for (const token of tokens) {
      const person = personOfToken.get(token);
      if (person === undefined) problems.push(`${type} ${id} has the unknown value ${token}`);
      else add(people, survivorOf(patient), person);
      if (!acceptedTokens.has(token)) problems.push(`${type} has ${token} of a rejected message`);
      const component = componentOfToken.get(token);
      if (component !== undefined) add(recordsOf, component, survivorOf(patient));
    }
  }
  for (const [identifier, patient] of identifiers) {
    const person = personOfNumber.get(identifier);
    if (person === undefined) problems.push(`the identifier ${identifier} is unknown`);
    else {
      add(people, survivorOf(patient), person);
      add(recordsOf, components(identifier), survivorOf(patient));
    }
  }
  const owners = new Map(records.map(({ type, id, patient }) => [`${type}/${id}`, survivorOf(patient)]));
  for (const { type, id, patient, content } of records) {
    if (type === 'Patient') continue;
    for (const [, other = ''] of JSON.stringify(content).matchAll(/"reference":"([^"#]+)"/g))
      if (owners.get(other) !== survivorOf(patient))
        problems.push(`${type} ${id} refers to ${other} of another record`);
  }
  for (const [patient, who] of people)
    if (who.size > 1) problems.push(`${[...who].join(' and ')} are in the record ${patient}`);

  // A person whose identifiers are known as one has one record.
  const links = issues.filter(({ kind }) => ABOUT_PERSONS.has(kind)).map((issue) => issue.patients.map(survivorOf));
  for (const [component, found] of recordsOf) {
    const [first, ...others] = found;
    if (first === undefined || others.length === 0) continue;
    const reached = new Set([first]);
    for (let size = 0; size < reached.size;) {
      size = reached.size;
      for (const link of links) if (link.some((id) => reached.has(id))) for (const id of link) reached.add(id);
    }
    const unlisted = others.filter((id) => !reached.has(id));
    if (unlisted.length > 0)
      problems.push(`${personOfNumber.get(component)} (${component}) has ${found.size} records that are not listed`);
  }

  // The record says what the last admission said.
  for (const [component, found] of recordsOf) {
    const [only, ...more] = [...found].map((id) => patients.get(id));
    const last = byTime.findLast(
      ({ admission, numbers }) => admission !== null && components(numbers[0] ?? '') === component,
    );
    if (only === undefined || more.length > 0 || last === undefined || last.admission === null) continue;
    const { family, birthDate } = last.admission;
    const text = JSON.stringify(only.content['name'] ?? []);
    if (only.content['active'] === false) problems.push(`the only record of ${last.person} is inactive`);
    if (!text.includes(JSON.stringify(family)) || (birthDate !== '' && only.content['birthDate'] !== birthDate))
      problems.push(
        `${last.person} (${component}) is ${text} ${JSON.stringify(only.content['birthDate'])} instead of ${family} ${birthDate}`,
      );
  }

  // Each true thing is said once, with its last value.
  const things = Map.groupBy(
    byTime.flatMap(({ facts, controlId, person, numbers: [number = ''], orders: [order = ''] }) =>
      facts.map((fact) => ({ ...fact, controlId, person, component: components(number), order: orders(order) })),
    ),
    // Nothing shows that a thing of two identifiers or orders is one, unless a message has both.
    ({ of, component, order }) => `${of} of ${component} ${order}`,
  );
  const groupsOfToken = new Map<number, Set<string>>();
  for (const [of, said] of things)
    for (const { token } of said)
      if (token !== null) groupsOfToken.set(token, (groupsOfToken.get(token) ?? new Set()).add(of));
  for (const [of, said] of things) {
    const tokens = new Set(said.map(({ token }) => token));
    // One value under two orders, and no message with both, does not show which of them a record is.
    if ([...tokens].some((token) => token !== null && (groupsOfToken.get(token)?.size ?? 0) > 1)) continue;
    const own = records.filter((each) => COUNTED.has(each.type) && each.tokens.some((token) => tokens.has(token)));
    const live = own.filter(isLive);
    const current = currentOf(said);
    // The administrator's list shows that the person has several records.
    const isSplit = (recordsOf.get(said[0]?.component ?? '')?.size ?? 0) > 1;
    const isSaid =
      current !== undefined &&
      live.some((each) => isOfState(each, current) && each.tokens.join() === `${current.token}`);
    const isListed =
      (isSplit && (current === undefined || isSaid)) ||
      issues.some(
        ({ text, controlId }) =>
          own.some(({ id }) => text.includes(id)) || said.some((each) => each.controlId === controlId),
      );
    const shown = live.map((each) => `${stateOf(each)} ${each.tokens.join('+')}`).join(', ') || 'nothing';
    const who = said[0]?.person;
    if (current === undefined) {
      const isOmitted = said.at(-1)?.state === 'omitted';
      // A withdrawal that reached the other of two listed records withdraws when they are merged.
      if (live.length > 0 && !((isOmitted || isSplit) && isListed))
        problems.push(`${of} of ${who} was withdrawn and is ${shown}`);
      continue;
    }
    const [only, ...more] = live;
    const isRight =
      only !== undefined && more.length === 0 && only.tokens.join() === `${current.token}` && isOfState(only, current);
    if (!isRight && !isListed)
      problems.push(`${of} of ${who} is ${shown} instead of ${current.state} ${current.token}`);
  }
  return problems;
}

/** The status of a result or document as text. */
const stateOf = ({ type, content }: StoredRecord): string =>
  JSON.stringify(content[type === 'DocumentReference' ? 'docStatus' : 'status'] ?? 'final').replaceAll('"', '');
const isOfState = (record: StoredRecord, { state }: Fact): boolean =>
  record.type === 'AllergyIntolerance' || stateOf(record) === state;

/** @returns a function for the representative of what messages showed to be one */
function joined(lists: readonly (readonly string[])[]): (each: string) => string {
  const parent = new Map<string, string>();
  const rootOf = (each: string): string => {
    const next = parent.get(each) ?? each;
    return next === each ? each : rootOf(next);
  };
  for (const list of lists) for (const each of list) parent.set(rootOf(each), rootOf(list[0] ?? each));
  return rootOf;
}
