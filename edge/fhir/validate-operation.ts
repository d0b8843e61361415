/**
 * `POST [type]/$validate` and `POST [type]/[id]/$validate` (FHIR R4 resource-operation-validate): the result that a
 * create, or an update of this id, would have. Nothing is written, and the database makes the checks of a write.
 */
import { Fault, type Issue } from '../../shared/fault.ts';
import { isJsonObject, type Json, printJson } from '../../shared/json.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { patientsExist } from '../store/group.ts';
import { currentVersion } from '../store/resource-by-id.ts';
import type { Query } from '../deps.ts';
import type { RequestHeaders } from './conditional-headers.ts';
import type { Pair } from './controls/faults.ts';
import type { Answer, Interaction, RequestContext } from './interaction.ts';
import { located, type OperationInput, readOperationInput } from './operation-input.ts';
import { issuesOf, outcome } from './outcome.ts';
import { patientPath, unknownPatient } from './patient-reference.ts';
import { type CheckedWrite, checkCreate, checkUpdate, type PlannedWrite, planWrite } from './plan-write.ts';
import { unknownId } from './refused-write.ts';
import { MAX_ISSUES } from './validate/findings.ts';
import { profileFaults, profileNamed, profilesOf, typeOfProfile } from './validate/profiles/profile.ts';
import { US_CORE_VERSION } from './validate/profiles/us-core.ts';
import { unknownCodes } from './validate/unknown-codes.ts';

const BASE_PROFILE = 'http://hl7.org/fhir/StructureDefinition/';
/** True for R4's own definition of the type, with or without its version. */
const isBase = (type: ResourceType, profile: Json | undefined): boolean =>
  profile === `${BASE_PROFILE}${type}` || profile === `${BASE_PROFILE}${type}|4.0.1`;
const MODES = ['create', 'update'] as const;
const OPTIONS = ['mode', 'profile'];

type Mode = (typeof MODES)[number];

/** The mode option; without it an update where the address has an id, otherwise a create. */
function modeOf({ options }: OperationInput, id: string | null): Mode {
  const given = options.get('mode');
  if (given === undefined) return id === null ? 'create' : 'update';
  const mode = MODES.find((one) => one === given.value);
  if (mode === undefined) throw located('malformed', 'value', `mode must be one of ${MODES.join(', ')}`, given.at);
  if (mode === 'update' || id === null) return mode;
  throw located('malformed', 'value', 'mode=create needs an address without an id: POST [type]/$validate', given.at);
}

/**
 * To ignore an unknown profile would report a resource as valid that was not checked.
 *
 * @returns the name of a profile of US Core; undefined: R4's own
 */
function askedProfile(
  { profiles }: RequestContext,
  { options }: OperationInput,
  type: ResourceType,
): string | undefined {
  const profile = options.get('profile');
  if (profile === undefined || isBase(type, profile.value)) return undefined;
  const name = profile.value === undefined ? undefined : profileNamed(profile.value);
  if (name !== undefined && profiles === 'us-core' && typeOfProfile(name) === type) return name;
  const known = [`${BASE_PROFILE}${type}`, ...(profiles === 'us-core' ? profilesOf(type) : [])];
  const off =
    name === undefined || profiles === 'us-core' ? '' : '. US Core is off: the operator can set FHIR_PROFILES=us-core';
  throw located(
    'invalid',
    'not-supported',
    `this server does not know the profile for ${type}: only ${known.join(', ')} can be used${off}`,
    profile.at,
  );
}

const NO_HEADERS: RequestHeaders = { get: () => null };

function checkedWriteOf(
  context: RequestContext,
  type: ResourceType,
  id: string | null,
  mode: Mode,
  resource: Json,
): CheckedWrite {
  if (mode === 'create') return checkCreate(context, type, resource, NO_HEADERS);
  const own = isJsonObject(resource) ? resource['id'] : undefined;
  if (id !== null) return checkUpdate(context, type, id, resource, NO_HEADERS);
  if (typeof own === 'string') return checkUpdate(context, type, own, resource, NO_HEADERS);
  throw located('malformed', 'required', 'an update needs the id of the resource', `${type}.id`);
}

/** The resources that the write needs in the database, each with the issues where it does not exist. */
function neededBy(
  { caller: { site } }: RequestContext,
  { type, interaction, id, foundBy }: CheckedWrite,
  { write }: PlannedWrite,
) {
  const needed: { readonly query: Query; readonly otherwise: readonly Issue[] }[] = [];
  if (write.patient !== null) {
    const otherwise = [unknownPatient(`${patientPath(type)}.reference`)];
    needed.push({ query: currentVersion(site, 'Patient', write.patient), otherwise });
  }
  if (write.members !== undefined) {
    const otherwise = [unknownPatient(`${patientPath(type)}.reference`)];
    needed.push({ query: patientsExist(site, write.members), otherwise });
  }
  if (interaction === 'update' && foundBy === null) {
    needed.push({ query: currentVersion(site, type, id), otherwise: issuesOf(unknownId(type)) });
  }
  return needed;
}

/** The profiles of `meta.profile` that the gateway does not check. */
function uncheckedProfiles({ profiles }: RequestContext, type: ResourceType, { content }: CheckedWrite): Issue[] {
  const { meta } = content;
  const claimed = isJsonObject(meta) && Array.isArray(meta['profile']) ? meta['profile'] : [];
  const isChecked = (profile: Json): boolean =>
    isBase(type, profile) || (profiles === 'us-core' && profileNamed(profile) !== undefined);
  if (claimed.every(isChecked)) return [];
  const known = profiles === 'us-core' ? `FHIR R4 and US Core ${US_CORE_VERSION}` : 'FHIR R4';
  const message = `a profile of meta.profile was not checked: this server has the definitions of ${known} only`;
  return [{ code: 'informational', message, at: `${type}.meta.profile` }];
}

/** Warnings for elements without a fault, at most 100 issues in all. */
function warningsOf(type: ResourceType, resource: Json, faults: readonly Issue[]): Issue[] {
  if (!isJsonObject(resource)) return [];
  return unknownCodes(type, resource)
    .filter(
      (warning) => !faults.some(({ at }) => at !== undefined && at !== type && warning.at?.startsWith(at) === true),
    )
    .slice(0, Math.max(MAX_ISSUES - faults.length, 0));
}

/** A profile may be in `meta.profile` and in the request. */
const withoutRepeats = (issues: readonly Issue[]): Issue[] => [
  ...new Map(issues.map((issue) => [`${issue.at}: ${issue.message}`, issue])).values(),
];

/** Always 200 when the content could be read (R4): the outcome has the result. */
const found = (severity: 'error' | 'information', issues: readonly Issue[], warnings: readonly Issue[]): Answer => ({
  status: 200,
  headers: {},
  body: printJson(outcome(severity, issues, warnings)),
});

/**
 * @param id the id in the address; null: an address without an id
 */
export function prepareValidate(
  context: RequestContext,
  type: ResourceType,
  id: string | null,
  pairs: readonly Pair[],
  content: Json,
): Interaction {
  const asked = readOperationInput(content, pairs, OPTIONS);
  const mode = modeOf(asked, id);
  const profile = askedProfile(context, asked, type);
  const ofProfile =
    profile === undefined || !isJsonObject(asked.resource) ? [] : profileFaults([profile], asked.resource);
  try {
    const checked = checkedWriteOf(context, type, id, mode, asked.resource);
    const needed = neededBy(context, checked, planWrite(context, checked));
    const of = profile === undefined ? 'FHIR R4' : `FHIR R4 and ${profile} (US Core ${US_CORE_VERSION})`;
    const message = `a valid ${type} of ${of}: ${mode} would accept it`;
    const good = [{ code: 'informational', message }, ...uncheckedProfiles(context, type, checked)];
    return {
      // The database only checks whether ids exist in the site, which reveals no data of a patient.
      audited: 'none',
      queries: needed.map(({ query }) => query),
      answer: (rowsOf) => {
        const missing = needed.flatMap(({ query, otherwise }) => (rowsOf(query).length === 0 ? otherwise : []));
        const faults = [...ofProfile, ...missing].slice(0, MAX_ISSUES);
        const warnings = warningsOf(type, checked.content, faults);
        return faults.length > 0 ? found('error', faults, warnings) : found('information', good, warnings);
      },
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const faults = withoutRepeats([...issuesOf(error), ...ofProfile]).slice(0, MAX_ISSUES);
    const warnings = warningsOf(type, asked.resource, faults);
    return { audited: 'none', queries: [], answer: () => found('error', faults, warnings) };
  }
}
