/** Result messages of one patient in few words, and the live results that a site in memory has after them. */
import { referencesIn } from '../../edge/hl7/mapping/references.ts';
import type { StoredResource } from '../../edge/store/resource.ts';
import { isJsonObject, parseJson, printJson, type JsonObject } from '../../shared/json.ts';
import { createWorld, type World } from './hl7-world.ts';

export interface SentOrder {
  /** OBR-2 and OBR-3. */
  readonly placer?: string;
  readonly filler?: string;
  /** OBR-4. */
  readonly ordered?: string;
  /** OBR-7. */
  readonly collected?: string;
  /** OBR-25. */
  readonly status?: string;
  /** OBR-26 and OBR-29. */
  readonly parent?: string;
  readonly parentOrder?: string;
  /** OBX-2, OBX-3, OBX-4, OBX-5, OBX-11 and OBX-14: `TX|RAD^Report^L||No fracture seen.|P`. */
  readonly obx: readonly string[];
}

export interface SentResults {
  /** OBR-22 and MSH-7: a minute of the first day of 2026, or a time. */
  readonly at: number | string;
  /** MSH-3 and MSH-4. */
  readonly sender?: string;
  readonly orders: readonly SentOrder[];
}

let control = 0;

const timeOf = (at: number | string): string =>
  typeof at === 'string' ? at : `2026010112${String(at).padStart(2, '0')}`;

/** @param pid PID-3 with what follows it */
export function resultMessage(
  { at, sender = 'LAB|HOSP', orders }: SentResults,
  pid = 'P1^^^HOSP^MR||Doe^Jane',
): string {
  const time = timeOf(at);
  control += 1;
  const header = `MSH|^~\\&|${sender}|GATEWAY|SITE|${time}||ORU^R01^ORU_R01|R-${control}|P|2.5.1`;
  const lines = orders.flatMap(
    ({ placer = '', filler = 'F1', ordered = '1^Panel^L', collected = '202601010800', status = 'F', ...order }, n) => {
      const { parent = '', parentOrder = '', obx } = order;
      return [
        `OBR|${n + 1}|${placer}|${filler}|${ordered}|||${collected}|||||||||||||||${time}|||${status}|${parent}|||${parentOrder}`,
        ...obx.map((text, m) => {
          const [type, code, sub = '', value = '', own = '', observed = ''] = text.split('|');
          return `OBX|${m + 1}|${type}|${code}|${sub}|${value}||||||${own === '' ? status : own}|||${observed}`;
        }),
      ];
    },
  );
  return [header, `PID|1||${pid}`, ...lines].join('\n');
}

/** `value status` of an Observation. */
export function shown(content: JsonObject): string {
  const quantity = content['valueQuantity'];
  const value = content['valueString'] ?? (isJsonObject(quantity) ? quantity['value'] : undefined);
  const text = typeof value === 'string' ? value : printJson(value ?? 'none').replaceAll('"', '');
  const { status } = content;
  return `${text.replaceAll('\n', '/')} ${typeof status === 'string' ? status : 'none'}`;
}

export const isLive = ({ status }: JsonObject): boolean => status !== 'entered-in-error' && status !== 'cancelled';

/** Resources in memory or in a database. */
interface Stored {
  readonly resources: () => readonly Pick<StoredResource, 'type' | 'id' | 'body'>[];
}

/** The results that are not withdrawn, sorted. Each of them, and nothing else, is in a report. */
export function liveIn(world: Stored): string[] {
  const contents = world.resources().map(({ type, id, body }) => ({ type, id, content: objectOf(body) }));
  const live = contents.filter(({ type, content }) => type === 'Observation' && isLive(content));
  const reports = contents.filter(
    ({ type, content }) => type === 'DiagnosticReport' && content['status'] !== 'entered-in-error',
  );
  const listed = new Set(reports.flatMap(({ content }) => referencesIn(content['result'])));
  const unlisted = live.filter(({ id }) => !listed.has(`Observation/${id}`));
  if (unlisted.length > 0) throw new Error(`in no report: ${unlisted.map(({ content }) => shown(content)).join()}`);
  return live.map(({ content }) => shown(content)).toSorted();
}

/** `value status` of each result in a report, sorted. */
export function reportedIn(world: Stored): string[] {
  const contents = new Map(world.resources().map(({ type, id, body }) => [`${type}/${id}`, objectOf(body)]));
  return [...contents]
    .filter(([name, { status }]) => name.startsWith('DiagnosticReport/') && status !== 'entered-in-error')
    .flatMap(([, content]) => referencesIn(content['result']))
    .map((reference) => shown(contents.get(reference) ?? {}))
    .toSorted();
}

export function objectOf(body: string): JsonObject {
  const content = parseJson(`{${body}}`);
  if (!isJsonObject(content)) throw new Error('a resource is an object');
  return content;
}

/** @returns the world after all messages, and the findings of each */
export function afterResults(messages: readonly SentResults[]): {
  world: World;
  findings: readonly (readonly string[])[];
} {
  const world = createWorld();
  const findings = messages.map((each) => world.send(resultMessage(each)));
  return { world, findings };
}
