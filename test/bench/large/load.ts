/** Loads the rows of a world into the tables, in the order of time. Each event is a copy of rows that the gateway wrote (scenarios.ts). */
import type { Client } from 'pg';

import type { ProgressLine } from '../../../edge/platform/node/progress-line.ts';
import { withoutAnyGuards } from '../../stack/tools/without-guards.ts';
import { copyInto, type TableCopy } from './copy.ts';
import type { SiteKeys } from './gateway.ts';
import type { Result } from './messages.ts';
import type { ScenarioName, Templates } from './scenarios.ts';
import { type Column, filled, valuesFor } from './template.ts';
import {
  ALL_SPECIALS,
  createdAt,
  type Happening,
  happeningsAt,
  happeningsOf,
  hasMoved,
  idsOf,
  isOfMessage,
  patientId,
  personOf,
  random,
  resultsOf,
  siteOf,
  type World,
} from './world.ts';

const REFUSED_EACH = 500;
const CORRECTED_SHARE = 0.2;
const STEP_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Two indexes are made at a time, and each sorts in memory of this size. */
const MAKING_INDEXES = `set maintenance_work_mem = '1GB'; set max_parallel_maintenance_workers = 0`;
const INDEX_MAKERS = 2;

export interface Load {
  /** The owner's connection string. */
  readonly url: string;
  readonly owner: Client;
  readonly world: World;
  /** The keys of each site. */
  readonly keys: readonly SiteKeys[];
  readonly columns: ReadonlyMap<string, readonly Column[]>;
  readonly templates: Templates;
  readonly progress: ProgressLine;
  readonly say: (what: string) => void;
}

export async function loadWorld({ url, owner, world, keys, columns, templates, progress, say }: Load): Promise<void> {
  const tables = [...new Set(Object.values(templates).flatMap(({ tables: of }) => [...of.keys()]))];
  say(`${world.patients} patients`);
  await withoutAnyGuards({
    url,
    tables,
    connections: INDEX_MAKERS,
    settings: MAKING_INDEXES,
    async load() {
      const copies = new Map<string, TableCopy>();
      for (const table of tables)
        copies.set(
          table,
          await copyInto(
            url,
            table,
            (columns.get(table) ?? []).map(({ name }) => name),
          ),
        );
      await copyAll(copies, world, keys, templates, progress);
      await Promise.all([...copies.values()].map((copy) => copy.end()));
      progress.end();
      say('counts of requests');
      for (const statement of COUNTS) await owner.query(statement);
      say('indexes');
    },
    made: (indexes, all) => progress.show(indexes, all),
  });
  progress.end();
  say('statistics');
  // Autovacuum does it in production.
  await owner.query('analyze');
}

async function copyAll(
  copies: ReadonlyMap<string, TableCopy>,
  world: World,
  keys: readonly SiteKeys[],
  templates: Templates,
  progress: ProgressLine,
): Promise<void> {
  let things = 0;
  const put = async (scenario: ScenarioName, patient: number, atMs: number, seed: number): Promise<void> => {
    const template = templates[scenario];
    const of = keys[siteOf(patient)];
    if (of === undefined) throw new TypeError('no such site');
    things += 1;
    const thing = things;
    const given = blanksOf(world, of, patient, atMs, seed, thing);
    const values = valuesFor(template, given, idsOf(atMs, thing));
    for (const [table, parts] of template.tables) {
      const full = copies.get(table)?.write(filled(parts, values));
      if (full !== undefined) await full;
    }
  };
  const happen = ({ kind, patient, atMs, seed }: Happening): Promise<void> => {
    const scenario = kind === 'observed' && random(seed, 30) < CORRECTED_SHARE ? 'corrected' : kind;
    return put(scenario, patient, atMs, seed);
  };

  const specials = ALL_SPECIALS.map((patient) => happeningsOf(world, patient));
  for (const patient of ALL_SPECIALS) {
    await put('registered', patient, createdAt(world, patient), patient);
    await put('refused', patient, createdAt(world, patient) + STEP_MS, patient);
  }
  const next = specials.map((each) => each.next().value as Happening | undefined);
  for (let n = 0; n < world.patients; n += 1) {
    const atMs = createdAt(world, n);
    for (const [at, each] of specials.entries()) {
      for (let one = next[at]; one !== undefined && one.atMs <= atMs; one = next[at]) {
        await happen(one);
        next[at] = each.next().value as Happening | undefined;
      }
    }
    await put(isOfMessage(n) ? (hasMoved(n) ? 'moved' : 'registered') : 'created', n, atMs, n);
    for (const one of happeningsAt(world, n)) await happen(one);
    await put('read', Math.floor(random(n, 31) * (n + 1)), atMs + 2, n);
    if (n % REFUSED_EACH === 7) await put('refused', n, atMs + 3, n);
    if (n % 100 === 0) progress.show(n, world.patients);
  }
  for (const one of next) if (one !== undefined) await happen(one);
  for (const each of specials) for (const one of each) await happen(one);
  progress.show(world.patients, world.patients);
}

/** The values for the blanks of a scenario. */
function blanksOf(world: World, keys: SiteKeys, patient: number, atMs: number, seed: number, thing: number) {
  const person = personOf(patient);
  const id = patientId(world, patient);
  let found: readonly Result[] | undefined;
  const result = (n: number): Result | undefined => (found ??= resultsOf(seed))[n];
  // Messages and their times have no fractions of a second, and collection times are exact to the minute.
  const sent = new Date(Math.floor(atMs / 1000) * 1000);
  const collected = new Date(Math.floor((atMs - HOUR_MS) / 60_000) * 60_000);
  return (name: string, n: number): string | Date | undefined => {
    switch (name) {
      case 'site':
        return keys.site;
      case 'fhirClient':
        return keys.fhirClient;
      case 'hl7Client':
        return keys.hl7Client;
      case 'patient':
        return id;
      case 'mrn':
        return person.mrn;
      case 'family':
        return person.family;
      case 'given':
        return person.given;
      case 'birthDate':
        return person.birthDate;
      case 'now':
        return new Date(atMs + n * STEP_MS);
      case 'sent':
        return sent;
      case 'again':
        return new Date(sent.getTime() + STEP_MS);
      case 'collected':
        return collected;
      case 'control':
        return controlOf(thing);
      case 'later':
        return `${controlOf(thing)}L`;
      case 'order':
        return String(thing);
      case 'code':
        return result(n)?.code;
      case 'name':
        return result(n)?.name;
      case 'value':
        return result(n)?.value;
      default:
        return undefined;
    }
  };
}

/** MSH-10 of the nth event. */
export const controlOf = (thing: number): string => `C${String(thing).padStart(9, '0')}`;

const QUARTER = (column: string): string => `date_bin('15 minutes', ${column}, 'epoch')`;
/** Every request counts in the third bucket (edge/store/usage.ts). */
const LATENCY = 'array[0, 0, count(*), 0, 0, 0, 0, 0, 0, 0, 0, 0]::bigint[]';
/** The counts that background work would have made from the answers. */
const COUNTS: readonly string[] = [
  'truncate usage, usage_total, answer_total, feed, key_usage, refusal',
  `insert into usage (site_id, bucket, surface, outcome, requests, latency)
   select site_id, ${QUARTER('received_at')}, 'hl7', case outcome when 'AA' then 'ok' else 'refused' end, count(*), ${LATENCY}
     from hl7_message group by 1, 2, 4`,
  `insert into usage (site_id, bucket, surface, outcome, requests, latency)
   select site_id, ${QUARTER('at')}, 'fhir', 'ok', count(*), ${LATENCY} from audit where actor_kind = 'key' and action <> 'message' group by 1, 2`,
  `insert into usage_total (site_id, surface, outcome, duration_ms, latency)
   select site_id, surface, outcome, sum(requests) * 8, array[0, 0, sum(requests), 0, 0, 0, 0, 0, 0, 0, 0, 0]::bigint[] from usage group by 1, 2, 3`,
  `insert into answer_total (site_id, surface, answer, answers)
   select site_id, 'hl7', outcome, count(*) from hl7_message group by 1, 3`,
  `insert into answer_total (site_id, surface, answer, answers)
   select site_id, surface, '200', sum(requests) from usage where surface = 'fhir' group by 1, 2`,
  `insert into feed (site_id, client_id, surface, application, facility, first_at, last_at)
   select site_id, client_id, 'hl7', sending_application, sending_facility, min(received_at), max(received_at)
     from hl7_message group by 1, 2, 4, 5`,
  `insert into key_usage (site_id, client_id, bucket, surface, application, facility, accepted, refused, rejected)
   select site_id, client_id, ${QUARTER('received_at')}, 'hl7', sending_application, sending_facility,
          count(*) filter (where outcome = 'AA'), count(*) filter (where outcome = 'AE'), count(*) filter (where outcome = 'AR')
     from hl7_message group by 1, 2, 3, 5, 6`,
  `insert into key_usage (site_id, client_id, bucket, surface, accepted, refused, rejected)
   select site_id, client_id, ${QUARTER('at')}, 'fhir', count(*), 0, 0
     from audit where actor_kind = 'key' and action <> 'message' group by 1, 2, 3`,
  `insert into refusal (site_id, client_id, since, surface, answer, code, reason, requests, first_at, last_at, request_ids, source_address)
   select site_id, client_id, ${QUARTER('received_at')}, 'hl7', 'AE', 'required-field-missing', 'PID-3 is required', count(*),
          min(received_at), max(received_at), array[max(request_id)], max(source_address)
     from hl7_message where outcome = 'AE' group by 1, 2, 3`,
];
