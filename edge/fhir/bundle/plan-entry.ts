/** An entry of a bundle as the interaction that its method and URL name, in the code that serves HTTP requests. */
import { Fault } from '../../../shared/fault.ts';
import { isResourceType, isStored, type ResourceType, unsupportedType } from '../../../shared/resource-type.ts';
import { requireScopes } from '../../oauth/bearer.ts';
import type { LookupRow } from '../../store/resource-lookup.ts';
import { patientElementOf } from '../../store/search/parameters.ts';
import { refuseNoneExist, type RequestHeaders, versionOf } from '../conditional-headers.ts';
import { type Interaction, readScope, type RequestContext, writeScope } from '../interaction.ts';
import { acceptedType } from '../media-type.ts';
import { checkPatch, foundBy, type Patch, patchOf } from '../patch/patch.ts';
import { patchOfEntry } from '../patch/patch-body.ts';
import { prepareDocref } from '../docref.ts';
import { prepareEverything } from '../everything.ts';
import { prepareHistory, prepareTypeHistory } from '../history.ts';
import { prepareProvenanceRead } from '../provenance.ts';
import { prepareRead } from '../read.ts';
import { pairsOf } from '../controls/pairs.ts';
import { conditionOf, requireFormControls } from '../controls/write-controls.ts';
import { aboutPatient, prepareSearch } from '../search/search.ts';
import { requireIdSegment, unsupportedCompartment, unsupportedMethod } from '../unsupported-address.ts';
import { METHODS } from '../type-interactions.ts';
import { type CheckedWrite, checkConditionalUpdate, checkCreate, checkUpdate } from '../plan-write.ts';
import type { Entry } from './entries.ts';

export type EntryPlan =
  | { readonly kind: 'write'; readonly checked: CheckedWrite }
  | { readonly kind: 'read'; readonly interaction: Interaction };

interface Url {
  readonly type: ResourceType;
  /** The segments after the type. */
  readonly path: readonly string[];
  readonly query: string | null;
}

/** @throws Fault `not-found` for a URL without a supported type; `method` for a write of a type that is only read */
function parseUrl({ url, method }: Entry, types: readonly ResourceType[]): Url {
  const mark = url.indexOf('?');
  const [path, query] = mark < 0 ? [url, null] : [url.slice(0, mark), url.slice(mark + 1)];
  const [type, ...rest] = path.split('/');
  if (!isResourceType(type))
    throw new Fault('not-found', 'the URL of the entry does not begin with a resource type of this server');
  if (!types.includes(type)) throw new Fault('not-found', unsupportedType(type, types), { code: 'not-supported' });
  const isRead = method === 'GET' && rest.length < 2 && rest[0] !== '_history';
  if (!isStored(type) && !isRead)
    throw unsupportedMethod(method, 'GET', ` of ${type}, which has no history and is never written`);
  return { type, path: rest, query };
}

/** The search that a URL is another name of: `[type]/_search?…`, `Patient/[id]/[type]?…`. */
function unaliased({ searches }: RequestContext, url: Url): Url {
  const { type, path, query } = url;
  const [first = '', second, ...more] = path;
  if (searches === 'listed' || more.length > 0) return url;
  if (first === '_search' && second === undefined) return { ...url, path: [] };
  if (type !== 'Patient' || !isResourceType(second) || patientElementOf(second) === undefined) return url;
  requireIdSegment(first);
  const about = new URLSearchParams([[...aboutPatient(first)]]).toString();
  return { type: second, path: [], query: `${about}&${query ?? ''}` };
}

function badUrl(method: string): Fault {
  const message = `the URL of the entry cannot be used with ${method}`;
  return new Fault('malformed', message, { code: 'not-supported' });
}

async function prepareGet(
  context: RequestContext,
  { type, path, query }: Url,
  headers: RequestHeaders,
): Promise<Interaction> {
  const pairs = pairsOf(query ?? '');
  refuseNoneExist(headers);
  // A bundle has one format, so another `_format` is rejected here too.
  acceptedType(null, new Map(pairs).get('_format') ?? null);
  const [id, history, version, ...rest] = path;
  if (path.length === 1 && id === '_history') return prepareTypeHistory(context, type, pairs);
  if (type === 'DocumentReference' && path.length === 1 && id === '$docref' && context.searches === 'us-core')
    return prepareDocref(context, pairs);
  if (id !== undefined) requireIdSegment(id);
  if (id === undefined) return prepareSearch(context, type, pairs);
  if (type === 'Patient' && path.length === 2 && history === '$everything')
    return prepareEverything(context, id, pairs);
  if (type === 'Provenance') return prepareProvenanceRead(context, id, pairs, headers);
  if (history === undefined) return prepareRead(context, { type, id, version: null }, pairs, headers);
  if (history !== '_history' || rest.length > 0) throw unsupportedCompartment([type, ...path]) ?? badUrl('GET');
  if (version === undefined) return prepareHistory(context, type, id, pairs);
  return prepareRead(context, { type, id, version: versionOf(version) }, pairs, headers);
}

/** The id of `[type]/[id]`, or undefined for `[type]?…`. @throws Fault for any other URL of a write */
function idOf(method: string, { path, query }: Url): string | undefined {
  const [id, ...rest] = path;
  if (id !== undefined) requireIdSegment(id);
  if (rest.length > 0 || (id === undefined && query === null)) throw badUrl(method);
  return id;
}

/** @throws Fault as a patch does over HTTP */
export function planPatch(context: RequestContext, entry: Entry): Patch {
  const url = parseUrl(entry, context.types);
  const { type, query } = url;
  requireScopes(context.caller, [readScope(type), writeScope(type)]);
  const id = idOf('PATCH', url);
  const pairs = pairsOf(query ?? '');
  if (id !== undefined) requireFormControls(pairs, 'patch');
  const target = id === undefined ? foundBy(context, type, conditionOf(pairs)) : { id };
  return patchOf(type, target, patchOfEntry(entry.resource), entry.headers);
}

function checkedWriteOf(context: RequestContext, entry: Entry, url: Url): CheckedWrite {
  const { type, path, query } = url;
  const content = entry.resource ?? null;
  const pairs = pairsOf(query ?? '');
  if (entry.method === 'POST') {
    if (path.length > 0) throw badUrl('POST');
    requireFormControls(pairs, 'create');
    return checkCreate(context, type, content, entry.headers);
  }
  const id = idOf('PUT', url);
  if (id === undefined) return checkConditionalUpdate(context, type, conditionOf(pairs), content, entry.headers);
  requireFormControls(pairs, 'update');
  return checkUpdate(context, type, id, content, entry.headers);
}

/**
 * @param found the resources that a patch changes
 * @throws Fault as the interaction does over HTTP, `forbidden` for a scope that the token lacks
 */
export async function planEntry(
  context: RequestContext,
  entry: Entry,
  found: readonly LookupRow[] = [],
): Promise<EntryPlan> {
  if (!METHODS.some((method) => method === entry.method)) {
    throw unsupportedMethod(entry.method, METHODS.join(', '));
  }
  if (entry.method === 'PATCH') {
    return { kind: 'write', checked: checkPatch(context, planPatch(context, entry), found) };
  }
  const url = parseUrl(entry, context.types);
  if (entry.method === 'GET') {
    const search = unaliased(context, url);
    requireScopes(context.caller, [readScope(search.type)]);
    return { kind: 'read', interaction: await prepareGet(context, search, entry.headers) };
  }
  requireScopes(context.caller, [writeScope(url.type)]);
  return { kind: 'write', checked: checkedWriteOf(context, entry, url) };
}
