/** A Bundle of type batch or transaction, read: its entries as requests (FHIR R4 http, 3.1.0.11; bundle, 2.36.7). */
import { Fault, type Issue } from '../../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../shared/json.ts';
import type { Query } from '../../deps.ts';
import { Budget } from '../../limits.ts';
import { ANSWER_BYTES, limitAnswer } from '../../store/page.ts';
import { malformedAt } from '../controls/faults.ts';
import { requireAffordableQueries } from '../cost.ts';
import type { Interaction } from '../interaction.ts';
import type { RequestHeaders } from '../conditional-headers.ts';
import { validate } from '../validate/validate.ts';

export interface Entry {
  /** FHIRPath: `Bundle.entry[2]`. */
  readonly at: string;
  readonly fullUrl: string | null;
  readonly method: string;
  /** Relative to the root: `Patient`, `Patient/[id]`, `Patient?identifier=…`. */
  readonly url: string;
  /** Such as `If-Match`. */
  readonly headers: RequestHeaders;
  readonly resource: Json | undefined;
}

export interface RequestBundle {
  readonly type: 'batch' | 'transaction';
  readonly entries: readonly Entry[];
}

/** The elements of Bundle.entry.request that replace headers, by the header's name in lower case. */
const HEADERS: Readonly<Record<string, string>> = {
  'if-none-match': 'ifNoneMatch',
  'if-modified-since': 'ifModifiedSince',
  'if-match': 'ifMatch',
  'if-none-exist': 'ifNoneExist',
};

const ELEMENT = ['id', 'extension'];
const BUNDLE = new Set(
  'resourceType id meta implicitRules language identifier type timestamp total link entry signature'.split(' '),
);
const ENTRY = new Set([...ELEMENT, 'link', 'fullUrl', 'resource', 'search', 'request', 'response']);
const REQUEST = new Set([...ELEMENT, 'method', 'url', ...Object.values(HEADERS)]);
/** Members of a request and its entry that must be strings; a condition of another JSON type would be ignored. */
const TEXTS = ['fullUrl', 'method', 'url', ...Object.values(HEADERS)];

/** An unknown member might be a condition with a typing error in its name, so it is rejected. */
function unknownMembers(object: JsonObject, known: ReadonlySet<string>, at: string): Issue[] {
  return Object.entries(object).flatMap(([name, value]): Issue[] => {
    if (TEXTS.includes(name) && typeof value !== 'string') {
      return [{ code: 'structure', message: 'must be a JSON string', at: `${at}.${name}` }];
    }
    if (known.has(name.replace(/^_/, ''))) return [];
    const message = `there is an unknown member; known members: ${[...known].join(', ')}`;
    return [{ code: 'structure', message, at }];
  });
}

const text = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** `Headers` would reject characters that a JSON string may have, as in the condition `name=王`. */
const headersOf = (request: JsonObject): RequestHeaders => ({
  get: (name) => text(request[HEADERS[name] ?? '']),
});

function entryOf(entry: Json, at: string, root: string, issues: Issue[]): Entry | undefined {
  const request = isJsonObject(entry) ? entry['request'] : undefined;
  if (!isJsonObject(entry) || !isJsonObject(request)) {
    issues.push({ code: 'required', message: 'each entry needs a request', at: `${at}.request` });
    return undefined;
  }
  issues.push(...unknownMembers(entry, ENTRY, at), ...unknownMembers(request, REQUEST, `${at}.request`));
  const [method, url] = [text(request['method']), text(request['url'])];
  if (request['method'] === undefined)
    issues.push({ code: 'required', message: 'method is required', at: `${at}.request.method` });
  if (request['url'] === undefined)
    issues.push({
      code: 'required',
      message: 'url is required: the type, such as Patient, or type and id, such as Patient/[id]',
      at: `${at}.request.url`,
    });
  if (method === null || url === null) return undefined;
  return {
    at,
    fullUrl: text(entry['fullUrl']),
    method,
    url: url.startsWith(`${root}/`) ? url.slice(root.length + 1) : url.replace(/^\//, ''),
    headers: headersOf(request),
    resource: entry['resource'],
  };
}

/** A PUT with it counts once. */
const hasNoneExist = ({ method, headers }: Entry): boolean => method !== 'PUT' && headers.get('if-none-exist') !== null;

/**
 * @param root our own `{base}/fhir`
 * @throws Fault `malformed` for anything but such a Bundle, with every fault located
 */
export function readBundle(content: Json, root: string): RequestBundle {
  if (!isJsonObject(content) || content['resourceType'] !== 'Bundle') {
    const [issue] = validate(content);
    const message =
      'POST to the root accepts a Bundle of type batch or transaction; send other resources to their type';
    throw malformedAt('Bundle', message, issue?.code ?? 'structure');
  }
  const { type, entry = [] } = content;
  if (type !== 'batch' && type !== 'transaction')
    throw malformedAt('Bundle.type', 'the type of the Bundle must be batch or transaction');
  if (!Array.isArray(entry)) throw malformedAt('Bundle.entry', 'Bundle.entry must be an array', 'structure');
  const budget = new Budget();
  budget.spend('bundle-entries', entry.length);
  const issues: Issue[] = unknownMembers(content, BUNDLE, 'Bundle');
  const entries = entry.flatMap((one, index) => entryOf(one, `Bundle.entry[${index}]`, root, issues) ?? []);
  if (issues.length > 0) throw new Fault('malformed', 'the Bundle cannot be processed', { issues });
  const count = (wanted: string): number => entries.filter(({ method }) => method === wanted).length;
  budget.spend('bundle-reads', count('GET'));
  budget.spend('bundle-patches', count('PATCH'));
  if (type === 'batch') budget.spend('batch-lookups', count('PUT') + entries.filter(hasNoneExist).length);
  requireAffordableQueries(
    entries.flatMap(({ url, headers }) => [...url.split('?').slice(1), headers.get('if-none-exist') ?? '']),
  );
  return { type, entries };
}

/** Awaits the step of each item before it begins the next one. */
export async function inTurn<Item, T>(items: readonly Item[], step: (item: Item) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (const item of items) done.push(await step(item));
  return done;
}

/** @param room the bytes of the resources that the reads answer */
export function readQueries(reads: readonly Interaction[], room: number): Query[] {
  const queries = reads.flatMap((read) => read.queries);
  return room === ANSWER_BYTES || queries.length === 0 ? queries : [limitAnswer(room), ...queries];
}
