/** Sends each typical event of a hospital once through the gateway. Copies of the resulting rows are loaded a million times. */
import { randomUUID } from 'node:crypto';

import type { Client } from 'pg';

import { createApiKey, createSite } from '../../stack/services/seed.ts';
import type { Asker, LargeGateway, SiteKeys } from './gateway.ts';
import { adt, observationOf, oru, patientOf, type Person, refusedAdt, type Result, transactionOf } from './messages.ts';
import { type Column, type Marks, type Rows, rowsOf, type Template, templateOf } from './template.ts';
import { PANEL } from './world.ts';

/** The texts that a template replaces by blanks. */
const SENT = new Date('2021-03-04T05:06:07Z');
const AGAIN = new Date('2021-03-04T05:16:07Z');
const COLLECTED = new Date('2021-03-04T04:05:00Z');
const PERSON: Person = { mrn: 'QQQNUMBER', family: 'Qqqfamily', given: 'Qqqgiven', birthDate: '1931-07-08' };
const CONTROL = 'QQQCONTROL';
const CONTROL_AGAIN = 'QQQLATER';
const ORDER = 'QQQORDER';
const RESULTS: readonly Result[] = Array.from({ length: PANEL }, (_, n) => ({
  code: `9900${n}-1`,
  name: `Qqqname ${n}`,
  value: `9100${n}.50`,
}));

interface Scene extends Asker {
  readonly ask: LargeGateway['ask'];
}
type Step = (scene: Scene) => Promise<unknown>;

const HEAD = { control: CONTROL, at: SENT };
const registered: Step = ({ ask, hl7 }) => ask(hl7(adt(HEAD, 'A04', PERSON)));
const created: Step = ({ ask, fhir }) => ask(fhir('/Patient', JSON.stringify(patientOf(PERSON))));
const idIn = (text: string, type: string): string => new RegExp(`${type}/([0-9a-f-]{36})`).exec(text)?.[1] ?? '';
const patientIn = async ({ ask, fhir }: Scene): Promise<string> => idIn(await ask(fhir('/Patient')), 'Patient');

const observed: Step = async (scene) => {
  const patient = await patientIn(scene);
  return scene.ask(scene.fhir('', transactionOf(RESULTS.map((result) => observationOf(patient, COLLECTED, result)))));
};
const corrected: Step = async (scene) => {
  const patient = await patientIn(scene);
  const id = idIn(await scene.ask(scene.fhir('/Observation')), 'Observation');
  const [first] = RESULTS;
  if (first === undefined) return undefined;
  const text = JSON.stringify({ resourceType: 'Observation', id }).slice(0, -1);
  const body = observationOf(patient, COLLECTED, first, 'amended').replace('{"resourceType":"Observation"', text);
  return scene.ask(scene.put(`/Observation/${id}`, body));
};

/** The rows of `before` are not a part of the template. */
interface Scenario {
  readonly before?: readonly Step[];
  readonly steps: readonly Step[];
}
const SCENARIOS = {
  registered: { steps: [registered] },
  moved: { steps: [registered, ({ ask, hl7 }) => ask(hl7(adt({ control: CONTROL_AGAIN, at: AGAIN }, 'A08', PERSON)))] },
  created: { steps: [created] },
  reported: {
    before: [registered],
    steps: [({ ask, hl7 }) => ask(hl7(oru({ ...HEAD, control: CONTROL_AGAIN }, PERSON, ORDER, COLLECTED, RESULTS)))],
  },
  observed: { before: [created], steps: [observed] },
  corrected: { before: [created], steps: [observed, corrected] },
  refused: { steps: [async ({ ask, hl7 }) => ask(hl7(refusedAdt(HEAD, PERSON))).catch(() => undefined)] },
  read: { before: [created], steps: [async (scene) => scene.ask(scene.fhir(`/Patient/${await patientIn(scene)}`))] },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;
export type Templates = Readonly<Record<ScenarioName, Template>>;

/** A site with its keys. */
export async function createSiteKeys(client: Client, name: string): Promise<SiteKeys> {
  const site = await createSite(client, { name });
  const { clientId: fhirClient } = await createApiKey(client, { site, name: 'Portal', protocols: ['fhir'] });
  const { clientId: hl7Client } = await createApiKey(client, { site, name: 'Hospital', protocols: ['hl7'] });
  return { site, fhirClient, hl7Client };
}

/** Tables of a site without data of a patient. */
const NOT_LOADED = new Set([
  'site',
  'site_change',
  'site_address',
  'api_key',
  'api_key_change',
  'api_key_thumbprint',
  'search_behind',
]);

/** The rows that the steps have added, without rows of a patient that existed before. */
function newRows(
  before: Rows,
  after: Rows,
  columns: ReadonlyMap<string, readonly Column[]>,
  patient: string | undefined,
): Rows {
  const found = new Map<string, Rows extends ReadonlyMap<string, infer List> ? List : never>();
  for (const [table, rows] of after) {
    const old = new Set((before.get(table) ?? []).map((row) => JSON.stringify(row)));
    const ids = ['id'].map((name) => (columns.get(table) ?? []).findIndex((column) => column.name === name));
    const added = rows.filter(
      (row) =>
        !old.has(JSON.stringify(row)) &&
        !(patient !== undefined && table !== 'hl7_message_resource' && ids.some((at) => row[at] === patient)),
    );
    if (added.length > 0 && !NOT_LOADED.has(table)) found.set(table, added);
  }
  return found;
}

async function record(
  client: Client,
  gateway: LargeGateway,
  columns: ReadonlyMap<string, readonly Column[]>,
  { before = [], steps }: Scenario,
): Promise<Template> {
  const keys = await createSiteKeys(client, `Scenario ${randomUUID()}`);
  const asker = await gateway.askerOf(keys);
  const scene: Scene = { ...asker, ask: gateway.ask };
  for (const step of before) await step(scene);
  const patientOfSite = async (): Promise<string | undefined> => {
    const { rows } = await client.query<{ id: string }>(
      `select id from resource where site_id = $1 and type = 'Patient'`,
      [keys.site],
    );
    return rows[0]?.id;
  };
  const known = await patientOfSite();
  const had = await rowsOf(client, keys.site, columns);
  const begun: Date[] = [];
  for (const [n, step] of steps.entries()) {
    if (n > 0) {
      const { rows } = await client.query<{ now: string }>('select clock_timestamp()::text as now');
      begun.push(new Date(rows[0]?.now ?? ''));
    }
    await step(scene);
  }
  const patient = await patientOfSite();
  const marks: Marks = {
    site: keys.site,
    fhirClient: keys.fhirClient,
    hl7Client: keys.hl7Client,
    ...(patient === undefined ? {} : { patient }),
    ...PERSON,
    sent: SENT,
    again: AGAIN,
    collected: COLLECTED,
    control: CONTROL,
    later: CONTROL_AGAIN,
    order: ORDER,
    ...Object.fromEntries(
      RESULTS.flatMap((result, at) => Object.entries(result).map(([name, value]) => [`${name}:${at}`, String(value)])),
    ),
  };
  const rows = newRows(had, await rowsOf(client, keys.site, columns), columns, known);
  return templateOf({ rows, columns, marks, steps: begun });
}

/** Records all scenarios, each in a separate site, which stays in the database. */
export async function recordTemplates(
  client: Client,
  gateway: LargeGateway,
  columns: ReadonlyMap<string, readonly Column[]>,
): Promise<Templates> {
  const templates: Partial<Record<ScenarioName, Template>> = {};
  for (const name of Object.keys(SCENARIOS) as ScenarioName[])
    templates[name] = await record(client, gateway, columns, SCENARIOS[name]);
  return templates as Templates;
}
