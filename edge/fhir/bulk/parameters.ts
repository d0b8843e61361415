/**
 * The parameters of a kick-off request (FHIR Bulk Data Access 2.0.0, Query Parameters), in a URL or as Parameters. The
 * gateway rejects an unsupported parameter by name. With `handling=lenient` it leaves the parameter out and reports it in the
 * manifest's `error`. It still rejects a parameter without which the export would be larger than requested.
 */
import { Fault, type Issue } from '../../../shared/fault.ts';
import { isJsonObject, type Json } from '../../../shared/json.ts';
import { isResourceType, RESOURCE_TYPES, type ResourceType } from '../../../shared/resource-type.ts';
import { addControl, FORM_CONTROLS } from '../controls/controls.ts';
import { collect, type Pair, unsupported } from '../controls/faults.ts';
import { mayLeaveOutOfExport } from '../lenient.ts';
import type { Prefer } from '../prefer.ts';
import { instantInterval } from '../prefixed-date.ts';

const SUPPORTED = ['_outputFormat', '_since', '_type'] as const;
type Supported = (typeof SUPPORTED)[number];

const FORMATS = ['application/fhir+ndjson', 'application/ndjson', 'ndjson'];

/** Parameters of the guide, each with a hint. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  _elements: 'exports have complete resources: leave it out',
  _typeFilter: 'an export does not search: leave it out, or search the type',
  includeAssociatedData: 'this server keeps no Provenance: leave it out',
  organizeOutputBy: 'files are by type: leave it out',
  allowPartialManifests: 'the manifest is available when the export is complete: leave it out',
  patient: 'an export has all patients. Search for the resources of one patient instead',
  _until: 'an export has the resources as they were when it began: leave it out',
};

/** A parameter as it was given. */
interface Given {
  readonly name: string;
  readonly value: string;
  /** FHIRPath, or `http.` and the parameter's name. */
  readonly at: string;
}

export interface ExportRequest {
  /** In the order of RESOURCE_TYPES; null: not given. */
  readonly types: readonly ResourceType[] | null;
  /** An instant. */
  readonly since: string | null;
  /** Names of the parameters that were applied. */
  readonly applied: readonly string[];
  /** The parameters that were left out. */
  readonly ignored: readonly Issue[];
}

const malformed = (issue: Issue): Fault => new Fault('malformed', issue.message, { issues: [issue] });

/** The parameters of a URL, without those that say how the answer looks. */
export function givenInUrl(pairs: readonly Pair[]): Given[] {
  const controls = new Map<string, string>();
  collect(
    pairs.filter(([name]) => FORM_CONTROLS.includes(name)),
    (pair) => addControl(controls, pair),
  );
  return pairs
    .filter(([name]) => !FORM_CONTROLS.includes(name))
    .map(([name, value]) => ({ name, value, at: `http.${name}` }));
}

/** A `parameter` of Parameters: a name and one value that is a string in JSON, or the reference of a `patient`. */
function givenOf(parameter: Json, at: string): Given {
  if (!isJsonObject(parameter)) throw malformed({ code: 'structure', message: 'a parameter is an object', at });
  const { name, ...rest } = parameter;
  const [[member, value] = [], ...more] = Object.entries(rest);
  if (typeof name !== 'string' || !member?.startsWith('value') || more.length > 0) {
    throw malformed({ code: 'structure', message: 'a parameter has a name and one value[x], and nothing else', at });
  }
  // An unsupported parameter is rejected by its name, so its value may be of any type.
  return { name, value: typeof value === 'string' ? value : '', at: `${at}.${member}` };
}

/** @throws Fault `malformed` for anything but a Parameters resource */
export function givenInBody(body: Json): Given[] {
  if (!isJsonObject(body) || body['resourceType'] !== 'Parameters') {
    throw malformed({ code: 'structure', message: 'the body must be a Parameters resource', at: 'Parameters' });
  }
  const { resourceType: _, id: _id, meta: _meta, parameter = [], ...rest } = body;
  const [other] = Object.keys(rest);
  if (other !== undefined || !Array.isArray(parameter)) {
    const message = 'Parameters can have the element parameter, and nothing else';
    throw malformed({ code: 'structure', message, at: 'Parameters' });
  }
  return parameter.map((one, n) => givenOf(one, `Parameters.parameter[${n}]`));
}

/** Names separated by commas, or given several times, or both. */
function typesOf({ value, at }: Given, isLenient: boolean, ignored: Issue[]): ResourceType[] {
  const issues: Issue[] = [];
  const types = value.split(',').flatMap((part) => {
    const name = part.trim();
    if (isResourceType(name)) return [name];
    const shown = /^[A-Za-z]{1,64}$/.test(name) ? name : 'a value that does not name a type';
    const message = `_type: ${shown} is not supported; supported types: ${RESOURCE_TYPES.join(', ')}`;
    (isLenient ? ignored : issues).push({ code: 'not-supported', message, at });
    return [];
  });
  if (issues.length > 0) throw new Fault('malformed', '_type cannot be used', { issues });
  return types;
}

function sinceOf({ value, at }: Given, nowMs: number): string {
  const from = instantInterval(`ge${value}`, nowMs)?.from;
  if (from == null) throw malformed({ code: 'value', message: '_since must be an instant', at });
  return from;
}

function requireFormat({ value, at }: Given): void {
  // A + in a query that was not escaped arrives as a space.
  if (FORMATS.includes(value.replace(' ', '+').toLowerCase())) return;
  const message = `_outputFormat must be one of ${FORMATS.join(', ')}`;
  throw malformed({ code: 'not-supported', message, at });
}

/** Why a parameter cannot be used. */
function refusalOf({ name, at }: Given): Issue {
  const hint = Object.hasOwn(UNSUPPORTED, name) ? UNSUPPORTED[name] : undefined;
  if (hint !== undefined) return { code: 'not-supported', message: `${name} is not supported: ${hint}`, at };
  return { ...unsupported(name, SUPPORTED), ...(at.startsWith('http.') ? {} : { at }) };
}

const isSupported = (name: string): name is Supported => SUPPORTED.some((one) => one === name);

/** @throws Fault `malformed` locating each parameter that cannot be used */
export function readExportRequest(given: readonly Given[], prefer: Prefer, nowMs: number): ExportRequest {
  const isLenient = prefer.handling === 'lenient';
  const ignored: Issue[] = [];
  const seen = new Set<Supported>();
  const types = new Set<ResourceType>();
  let since: string | null = null;
  collect(given, (one) => {
    const { name, at } = one;
    if (!isSupported(name)) {
      const issue = refusalOf(one);
      if (!isLenient || !mayLeaveOutOfExport(name)) throw malformed(issue);
      ignored.push(issue);
      return;
    }
    if (seen.has(name) && name !== '_type')
      throw malformed({ code: 'value', message: `${name} can be given only once`, at });
    seen.add(name);
    if (name === '_type') for (const type of typesOf(one, isLenient, ignored)) types.add(type);
    else if (name === '_since') since = sinceOf(one, nowMs);
    else requireFormat(one);
  });
  if (seen.has('_type') && types.size === 0) {
    const message = `_type names no supported type; supported types: ${RESOURCE_TYPES.join(', ')}`;
    throw malformed({ code: 'not-supported', message, at: 'http._type' });
  }
  return {
    types: seen.has('_type') ? RESOURCE_TYPES.filter((type) => types.has(type)) : null,
    since,
    applied: [...seen],
    ignored,
  };
}
