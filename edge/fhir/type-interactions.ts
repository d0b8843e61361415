/**
 * The table of the interactions with each type (FHIR R4 http, 3.1.0). Routes, `Allow`, scopes and the CapabilityStatement
 * derive from it; prepare.ts implements them.
 */
import { isStored, type ResourceType } from '../../shared/resource-type.ts';
import type { SearchSet } from '../config.ts';
import { patientElementOf } from '../store/search/parameters.ts';

export interface TypeInteraction {
  readonly name: string;
  /** CapabilityStatement.rest.resource.interaction.code; null for an operation. */
  readonly code:
    | 'read'
    | 'vread'
    | 'history-instance'
    | 'history-type'
    | 'search-type'
    | 'create'
    | 'update'
    | 'patch'
    | null;
  /** The URL of an operation's OperationDefinition. */
  readonly operation?: string;
  /** The one type that has it; absent: all. */
  readonly only?: ResourceType;
  /** Below `/fhir/Patient/[id]/[type]` (FHIR R4 compartmentdefinition), for the types that refer to a patient. */
  readonly ofPatient?: true;
  /** The set of search parameters that has it; absent: both. */
  readonly searches?: SearchSet;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Below `/fhir/[type]`. */
  readonly path: string;
  /** `both`: the change depends on the stored content. */
  readonly scope: 'read' | 'write' | 'both';
}

/** US Core, Fetch DocumentReference. */
export const DOCREF = 'http://hl7.org/fhir/us/core/OperationDefinition/docref';
const R4 = 'http://hl7.org/fhir/OperationDefinition/';

export const TYPE_INTERACTIONS = [
  { name: 'search', code: 'search-type', method: 'GET', path: '', scope: 'read' },
  { name: 'create', code: 'create', method: 'POST', path: '', scope: 'write' },
  { name: 'conditionalUpdate', code: 'update', method: 'PUT', path: '', scope: 'write' },
  { name: 'conditionalPatch', code: 'patch', method: 'PATCH', path: '', scope: 'both' },
  { name: 'searchByPost', code: 'search-type', method: 'POST', path: '/_search', scope: 'read' },
  { name: 'searchByGet', code: 'search-type', method: 'GET', path: '/_search', scope: 'read', searches: 'us-core' },
  {
    name: 'compartment',
    code: 'search-type',
    method: 'GET',
    path: '',
    scope: 'read',
    ofPatient: true,
    searches: 'us-core',
  },
  // The router reads a plain $ as an anchor.
  {
    name: 'validate',
    code: null,
    operation: `${R4}Resource-validate`,
    method: 'POST',
    path: '/:operation{\\$validate}',
    scope: 'write',
  },
  {
    name: 'validateInstance',
    code: null,
    operation: `${R4}Resource-validate`,
    method: 'POST',
    path: '/:id/:operation{\\$validate}',
    scope: 'write',
  },
  { name: 'typeHistory', code: 'history-type', method: 'GET', path: '/_history', scope: 'read' },
  {
    name: 'everything',
    code: null,
    operation: `${R4}Patient-everything`,
    only: 'Patient',
    method: 'GET',
    path: '/:id/:operation{\\$everything}',
    scope: 'read',
  },
  {
    name: 'everythingByPost',
    code: null,
    operation: `${R4}Patient-everything`,
    only: 'Patient',
    method: 'POST',
    path: '/:id/:operation{\\$everything}',
    scope: 'read',
  },
  {
    name: 'match',
    code: null,
    operation: `${R4}Patient-match`,
    only: 'Patient',
    method: 'POST',
    path: '/:operation{\\$match}',
    scope: 'read',
  },
  ...(['GET', 'POST'] as const).map((method) => ({
    name: method === 'GET' ? ('docref' as const) : ('docrefByPost' as const),
    code: null,
    operation: DOCREF,
    only: 'DocumentReference' as const,
    method,
    path: '/:operation{\\$docref}',
    scope: 'read' as const,
    searches: 'us-core' as const,
  })),
  { name: 'read', code: 'read', method: 'GET', path: '/:id', scope: 'read' },
  { name: 'update', code: 'update', method: 'PUT', path: '/:id', scope: 'write' },
  { name: 'patch', code: 'patch', method: 'PATCH', path: '/:id', scope: 'both' },
  { name: 'history', code: 'history-instance', method: 'GET', path: '/:id/_history', scope: 'read' },
  { name: 'vread', code: 'vread', method: 'GET', path: '/:id/_history/:version', scope: 'read' },
] as const satisfies readonly TypeInteraction[];

export type InteractionName = (typeof TYPE_INTERACTIONS)[number]['name'];

/** The methods of all interactions, each once. */
export const METHODS: readonly TypeInteraction['method'][] = [
  ...new Set(TYPE_INTERACTIONS.map(({ method }) => method)),
];
const R4_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];
/** Methods of R4's other interactions with a resource (FHIR R4 http, 3.1.0.7 delete). */
export const UNSUPPORTED_METHODS = R4_METHODS.filter((method) => METHODS.every((own) => own !== method));

/** The types of a Bundle that the root accepts. */
export const SYSTEM_INTERACTIONS = ['batch', 'transaction'] as const;

type NamedInteraction = TypeInteraction & { readonly name: InteractionName };

/** The interactions with a set of search parameters. */
export const interactionsWith = (searches: SearchSet): readonly NamedInteraction[] =>
  TYPE_INTERACTIONS.filter((one: TypeInteraction) => one.searches === undefined || one.searches === searches);

/** The codes of a type that is not stored. */
const READING: readonly TypeInteraction['code'][] = ['read', 'search-type'];

export function hasInteraction(type: ResourceType, { code, only, ofPatient }: TypeInteraction): boolean {
  if (ofPatient === true) return patientElementOf(type) !== undefined;
  return (only === undefined || only === type) && (isStored(type) || READING.includes(code));
}

/** The interactions of a type. */
export const interactionsOf = (type: ResourceType, searches: SearchSet): readonly NamedInteraction[] =>
  interactionsWith(searches).filter((one) => hasInteraction(type, one));

/** The codes that a type has, each once. */
export function interactionCodes(type: ResourceType, searches: SearchSet): string[] {
  return [...new Set(interactionsOf(type, searches).flatMap(({ code }) => code ?? []))];
}
