/**
 * `POST [type]/$validate` and `POST [type]/[id]/$validate` (FHIR R4 resource-operation-validate): the verdict that a create,
 * or an update of this id, would get. Nothing is written, and the database is asked what a write would be asked.
 */
import { Fault, type Issue } from '../../shared/fault.ts';
import { isJsonObject, type Json, type JsonObject, printJson } from '../../shared/json.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { currentVersion } from '../store/resource-by-id.ts';
import type { Query } from '../deps.ts';
import { type RequestHeaders, requireNoConditions } from './conditional-headers.ts';
import { FORM_CONTROLS } from './controls/controls.ts';
import type { Pair } from './controls/faults.ts';
import { strictControls } from './controls/write-controls.ts';
import type { Answer, Interaction, RequestContext } from './interaction.ts';
import { issuesOf, outcome } from './outcome.ts';
import { patientPath, unknownPatient } from './patient-reference.ts';
import { type Draft, draftCreate, draftUpdate, type PlannedWrite, planWrite } from './plan-write.ts';
import { unknownId } from './refused-write.ts';
import { MAX_ISSUES } from './validate/findings.ts';
import { unknownCodes } from './validate/unknown-codes.ts';

const BASE_PROFILE = 'http://hl7.org/fhir/StructureDefinition/';
const MODES = ['create', 'update'] as const;
const OPTIONS = ['mode', 'profile'];

type Mode = (typeof MODES)[number];

interface Option {
  readonly value: Json | undefined;
  /** Where it stands. */
  readonly at: string;
}

/** What is asked: the resource, and what it shall be checked for. */
interface Asked {
  readonly resource: Json;
  /** By name. */
  readonly options: ReadonlyMap<string, Option>;
}

function refuse(kind: 'malformed' | 'invalid', code: string, message: string, at: string): Fault {
  return new Fault(kind, message, { issues: [{ code, message, at }] });
}

/** The value of a parameter, of whatever type it says. */
function valueOf(parameter: JsonObject): Json | undefined {
  return Object.entries(parameter).find(([member]) => member.startsWith('value'))?.[1];
}

/** The resource, sent as it is or within Parameters; options stand in the URL or beside it. */
function askedOf(content: Json, pairs: readonly Pair[]): Asked {
  const hint = 'the resource is the body, or a parameter resource of it';
  const given = strictControls(pairs, [...OPTIONS, ...FORM_CONTROLS], hint);
  const options = new Map<string, Option>();
  for (const name of OPTIONS) {
    const value = given.get(name);
    if (value !== undefined) options.set(name, { value, at: `http.${name}` });
  }
  if (!isJsonObject(content) || content['resourceType'] !== 'Parameters') return { resource: content, options };
  const { parameter } = content;
  const at = 'Parameters.parameter';
  let resource: Json | undefined;
  for (const one of Array.isArray(parameter) ? parameter.filter(isJsonObject) : []) {
    const { name } = one;
    const isOption = typeof name === 'string' && OPTIONS.includes(name);
    if (!isOption && name !== 'resource') {
      throw refuse('invalid', 'not-supported', `only resource, ${OPTIONS.join(' and ')} can be used`, at);
    }
    if (isOption ? options.has(name) : resource !== undefined) {
      throw refuse('malformed', 'value', `${name} can be given only once`, at);
    }
    if (isOption) options.set(name, { value: valueOf(one), at });
    else resource = one['resource'];
  }
  if (resource === undefined) throw refuse('malformed', 'required', 'Parameters needs a parameter resource', at);
  return { resource, options };
}

/** What the write would be: of an id an update, else a create, unless it is said. */
function modeOf({ options }: Asked, id: string | null): Mode {
  const given = options.get('mode');
  if (given === undefined) return id === null ? 'create' : 'update';
  const mode = MODES.find((one) => one === given.value);
  if (mode === undefined) throw refuse('malformed', 'value', `mode must be one of ${MODES.join(', ')}`, given.at);
  if (mode === 'update' || id === null) return mode;
  throw refuse('malformed', 'value', 'mode=create is of the type: POST [type]/$validate', given.at);
}

/** To say nothing of a profile that is not known would be to call valid what was not checked. */
function requireKnownProfile({ options }: Asked, type: ResourceType): void {
  const profile = options.get('profile');
  const known = `${BASE_PROFILE}${type}`;
  if (profile === undefined || profile.value === known) return;
  throw refuse(
    'invalid',
    'not-supported',
    `this server does not know the profile: only ${known} can be used`,
    profile.at,
  );
}

const NO_HEADERS: RequestHeaders = { get: () => null };

function draftOf(context: RequestContext, type: ResourceType, id: string | null, mode: Mode, resource: Json): Draft {
  if (mode === 'create') return draftCreate(context, type, resource, NO_HEADERS);
  const own = isJsonObject(resource) ? resource['id'] : undefined;
  if (id !== null) return draftUpdate(context, type, id, resource, NO_HEADERS);
  if (typeof own === 'string') return draftUpdate(context, type, own, resource, NO_HEADERS);
  throw refuse('malformed', 'required', 'an update needs the id of the resource', `${type}.id`);
}

/** What the database has to have for the write to be done, and what is said where it has not. */
function neededBy(
  { caller: { site } }: RequestContext,
  { type, interaction, id, foundBy }: Draft,
  { write }: PlannedWrite,
) {
  const needed: { readonly query: Query; readonly otherwise: readonly Issue[] }[] = [];
  if (write.patient !== null) {
    const otherwise = [unknownPatient(`${patientPath(type)}.reference`)];
    needed.push({ query: currentVersion(site, 'Patient', write.patient), otherwise });
  }
  if (interaction === 'update' && foundBy === null) {
    needed.push({ query: currentVersion(site, type, id), otherwise: issuesOf(unknownId(type)) });
  }
  return needed;
}

/** `meta.profile` says what its author checked, not what was checked here. */
function uncheckedProfiles(type: ResourceType, { content }: Draft): Issue[] {
  const { meta } = content;
  const profiles = isJsonObject(meta) && Array.isArray(meta['profile']) ? meta['profile'] : [];
  if (profiles.every((profile) => profile === `${BASE_PROFILE}${type}`)) return [];
  const message = 'meta.profile was not checked: this server knows the definitions of FHIR R4 itself alone';
  return [{ code: 'informational', message, at: `${type}.meta.profile` }];
}

/** What may be said beside the faults: an element that has one is told once, and 100 issues are enough. */
function warningsOf(type: ResourceType, resource: Json, faults: readonly Issue[]): Issue[] {
  if (!isJsonObject(resource)) return [];
  return unknownCodes(type, resource)
    .filter(
      (warning) => !faults.some(({ at }) => at !== undefined && at !== type && warning.at?.startsWith(at) === true),
    )
    .slice(0, Math.max(MAX_ISSUES - faults.length, 0));
}

/** Always 200 when the content could be looked at (R4): the outcome says what was found. */
const found = (severity: 'error' | 'information', issues: readonly Issue[], warnings: readonly Issue[]): Answer => ({
  status: 200,
  headers: {},
  body: printJson(outcome(severity, issues, warnings)),
});

/**
 * @param id of the address; null: of the type
 * @param headers of the request: none of them can be a condition
 */
export function prepareValidate(
  context: RequestContext,
  type: ResourceType,
  id: string | null,
  pairs: readonly Pair[],
  content: Json,
  headers: RequestHeaders,
): Interaction {
  requireNoConditions(headers, '$validate');
  const asked = askedOf(content, pairs);
  const mode = modeOf(asked, id);
  requireKnownProfile(asked, type);
  try {
    const draft = draftOf(context, type, id, mode, asked.resource);
    const needed = neededBy(context, draft, planWrite(context, draft));
    const message = `a valid ${type} of FHIR R4: ${mode} would take it`;
    const good = [{ code: 'informational', message }, ...uncheckedProfiles(type, draft)];
    return {
      // What the database says is whether an id is one of the site's: no data of anybody.
      audited: 'none',
      queries: needed.map(({ query }) => query),
      answer: (rowsOf) => {
        const missing = needed.flatMap(({ query, otherwise }) => (rowsOf(query).length === 0 ? otherwise : []));
        const warnings = warningsOf(type, draft.content, missing);
        return missing.length > 0 ? found('error', missing, warnings) : found('information', good, warnings);
      },
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const faults = issuesOf(error);
    const warnings = warningsOf(type, asked.resource, faults);
    return { audited: 'none', queries: [], answer: () => found('error', faults, warnings) };
  }
}
