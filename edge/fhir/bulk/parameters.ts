/**
 * The parameters of a kick-off request (FHIR Bulk Data Access 2.0.0, Query Parameters), in a URL or as Parameters. The
 * gateway rejects an unsupported parameter by name. With `handling=lenient` it leaves the parameter out and reports it in the
 * manifest's `error`. It still rejects a parameter without which the export would be larger than requested.
 */
import { Fault, type Issue } from '../../../shared/fault.ts';
import { isJsonObject, type Json } from '../../../shared/json.ts';
import { isStored, RESOURCE_TYPES, type ResourceType, unsupportedType } from '../../../shared/resource-type.ts';
import { addControl, FORM_CONTROLS } from '../controls/controls.ts';
import { collect, type Pair, unsupported } from '../controls/faults.ts';
import { mayLeaveOutOfExport } from '../lenient.ts';
import type { RequestContext } from '../interaction.ts';
import { instantInterval } from '../prefixed-date.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { patientIdOf } from '../../store/search/kinds/patient.ts';
import { readCriteria } from '../search/request.ts';
import type { ValueContext } from '../search/values.ts';
import { type TypeFilter, typeFilterOf } from './type-filter.ts';

const SUPPORTED = ['_outputFormat', '_since', '_type', '_typeFilter', 'patient'] as const;
type Supported = (typeof SUPPORTED)[number];

/**
 * `system`: all resources of the site. `patient`: those in the compartments of patients. `group`: those in the compartments of
 * the members of a Group.
 */
export type Level = 'system' | 'patient' | 'group';

/** A Group is in no compartment of a patient. */
export const typesAt = (level: Level, types: readonly ResourceType[]): readonly ResourceType[] =>
  level === 'system' ? types : [...RESOURCE_TYPES, ...types.filter((type) => !isStored(type))];

const FORMATS = ['application/fhir+ndjson', 'application/ndjson', 'ndjson'];

/** Parameters of the guide that this request cannot have, each with a hint. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  patient: 'use it in the Parameters of a POST to Patient/$export',
  _elements: 'exports have complete resources: leave it out',
  includeAssociatedData: 'leave it out; for Provenance, add it to _type',
  organizeOutputBy: 'files are by type: leave it out',
  allowPartialManifests: 'the manifest is available when the export is complete: leave it out',
  _until: 'an export has the resources as they were when it began: leave it out',
};

/** A search for each alternative is made for each resource. */
const MAX_FILTERS = 20;
const MAX_PATIENTS = 1000;
const REPEATED: readonly string[] = ['_type', '_typeFilter', 'patient'];

/** A parameter as it was given. */
interface Given {
  readonly name: string;
  readonly value: string;
  /** FHIRPath, or `http.` and the parameter's name. */
  readonly at: string;
}

export interface ExportRequest {
  /** In the order of the supported types; null: not given. */
  readonly types: readonly ResourceType[] | null;
  /** An instant. */
  readonly since: string | null;
  /** Ids of patients; null: not given. */
  readonly patients: readonly string[] | null;
  readonly filters: readonly TypeFilter[];
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
  const text = isJsonObject(value) ? value['reference'] : value;
  // An unsupported parameter is rejected by its name, so its value may be of any type.
  return { name, value: typeof text === 'string' ? text : '', at: `${at}.${member}` };
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
function typesOf(
  { value, at }: Given,
  supported: readonly ResourceType[],
  isLenient: boolean,
  ignored: Issue[],
): ResourceType[] {
  const issues: Issue[] = [];
  const types = value.split(',').flatMap((part) => {
    const name = part.trim();
    const known = supported.find((type) => type === name);
    if (known !== undefined) return [known];
    const shown = /^[A-Za-z]{1,64}$/.test(name) ? name : 'a value that does not name a type';
    const message = `_type: ${shown} is not supported; ${unsupportedType(name, supported)}`;
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

/** Each `_typeFilter`, or several with commas between: a comma before `[type]?` separates them. */
function filtersOf({ value, at }: Given, supported: readonly ResourceType[], context: ValueContext): TypeFilter[] {
  return value.split(/,(?=[A-Z][A-Za-z]+\?)/).map((query) => {
    const filter = typeFilterOf(query);
    if (filter === undefined || !supported.includes(filter.type)) {
      const message = `_typeFilter must be [type]?[parameters] of a supported type; ${unsupportedType(filter?.type ?? '', supported)}`;
      throw malformed({ code: 'not-supported', message, at });
    }
    try {
      readCriteria(filter.type, filter.query, context);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const faults = error.issues.length > 0 ? error.issues : [{ code: 'required', message: error.message }];
      const issues = faults.map(({ code, message }) => ({
        code,
        message: `_typeFilter of ${filter.type}: ${message}`,
        at,
      }));
      throw error.with({ issues });
    }
    return filter;
  });
}

/** `patient` of a POST to `Patient/$export`: a reference to a patient of this server. */
function patientOf({ value, at }: Given, { root }: ValueContext): string {
  const id = patientIdOf(value.startsWith(`${root}/`) ? value.slice(root.length + 1) : value);
  if (id !== undefined && isUuid(id)) return id.toLowerCase();
  throw malformed({ code: 'value', message: 'patient must be a reference: Patient/[id]', at });
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

/**
 * @param level `patient` is a parameter of `Patient/$export` by POST only
 * @throws Fault `malformed` locating each parameter that cannot be used
 */
export function readExportRequest(given: readonly Given[], context: RequestContext, level: Level): ExportRequest {
  const { now: nowMs } = context;
  const supported = typesAt(level, context.types);
  const isLenient = context.prefer.handling === 'lenient';
  const patients = new Set<string>();
  const filters: TypeFilter[] = [];
  const ignored: Issue[] = [];
  const seen = new Set<Supported>();
  const types = new Set<ResourceType>();
  let since: string | null = null;
  collect(given, (one) => {
    const { name, at } = one;
    const isPatient = name === 'patient';
    if (!isSupported(name) || (isPatient && (level !== 'patient' || at.startsWith('http.')))) {
      const issue = refusalOf(one);
      if (!isLenient || !mayLeaveOutOfExport(name)) throw malformed(issue);
      ignored.push(issue);
      return;
    }
    if (seen.has(name) && !REPEATED.includes(name))
      throw malformed({ code: 'value', message: `${name} can be given only once`, at });
    seen.add(name);
    if (name === '_type') for (const type of typesOf(one, supported, isLenient, ignored)) types.add(type);
    else if (name === '_typeFilter') filters.push(...filtersOf(one, supported, context));
    else if (name === 'patient') patients.add(patientOf(one, context));
    else if (name === '_since') since = sinceOf(one, nowMs);
    else requireFormat(one);
  });
  if (seen.has('_type') && types.size === 0) {
    const message = `_type names no supported type; supported types: ${supported.join(', ')}`;
    throw malformed({ code: 'not-supported', message, at: 'http._type' });
  }
  if (seen.has('_type') && ![...types].some(isStored)) {
    const message = '_type=Provenance adds the Provenance of other types: name these types too';
    throw malformed({ code: 'value', message, at: 'http._type' });
  }
  const foreign = filters.find(({ type }) => seen.has('_type') && !types.has(type));
  if (foreign !== undefined) {
    const message = `_typeFilter of ${foreign.type}: _type does not name this type. Add it, or leave the filter out`;
    throw malformed({ code: 'value', message, at: 'http._typeFilter' });
  }
  if (filters.length > MAX_FILTERS || patients.size > MAX_PATIENTS) {
    const message = `An export may have ${MAX_FILTERS} _typeFilters and ${MAX_PATIENTS} patients: use several exports`;
    throw new Fault('invalid', message, { code: 'too-costly' });
  }
  return {
    patients: seen.has('patient') ? [...patients] : null,
    filters,
    types: seen.has('_type') ? supported.filter((type) => types.has(type)) : null,
    since,
    applied: [...seen],
    ignored,
  };
}
