/** The FHIR API in the OpenAPI document, made from the table that routes, searches and the CapabilityStatement use. */
import { SERVED_TYPES } from '../fhir/resource-types.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../shared/resource-type.ts';
import { EXAMPLES } from './fhir-examples.ts';
import {
  headerParameter,
  type OperationObject,
  type Parameter,
  pathParameter,
  type PathItem,
  type Paths,
  queryParameter,
  ref,
  type ResponseObject,
  uuid,
} from './model.ts';

const FHIR_JSON = 'application/fhir+json';

const answer = (description: string, schema: string): ResponseObject => ({
  description,
  content: { [FHIR_JSON]: { schema: ref(schema) } },
});

const outcome = (description: string) => answer(description, 'OperationOutcome');

const REFUSALS = {
  '400': outcome('The request cannot be read, or a parameter is not known.'),
  '401': outcome('No token, or one that is not valid for this surface.'),
  '403': outcome('The token lacks the scope; `WWW-Authenticate` names it.'),
};
const NOT_FOUND = { '404': outcome('The site has no such resource.') };
const WRITE_REFUSALS = {
  ...REFUSALS,
  '412': outcome('`If-Match` names another version, or a condition finds several resources.'),
  '413': outcome('The body is too large.'),
  '422': outcome('The resource is valid FHIR that is not accepted: one issue for each fault.'),
};

const CONTROLS: readonly Parameter[] = [
  queryParameter('_count', 'How many in a page.', { type: 'integer', minimum: 0, maximum: 500, default: 50 }),
  queryParameter('_total', '`accurate` counts all.', { type: 'string', enum: ['none', 'accurate'] }),
  queryParameter('_summary', 'Only the number of matches.', { type: 'string', enum: ['count', 'false'] }),
  queryParameter('_elements', 'Only these elements, with commas between.'),
];
const PRETTY = queryParameter('_pretty', 'Indented.', { type: 'boolean' });
const PREFER = headerParameter(
  'Prefer',
  '`return=representation` (default), `return=minimal` or `return=OperationOutcome`',
);
const IF_MATCH = headerParameter('If-Match', 'The version to overwrite, as in `ETag`.');
const ID = pathParameter('id', 'The id that the server gave.', uuid);

const security = (type: ResourceType, access: 'read' | 'write') => ({
  security: [{ accessToken: [] }],
  description: `Needs scope \`system/${type}.${access}\` and audience \`svc-fhir\`.`,
});

function searchParameters(type: ResourceType): Parameter[] {
  const { searchParameters: known, sorts } = SERVED_TYPES[type];
  return [
    ...Object.entries(known).map(([name, { documentation }]) => queryParameter(name, documentation)),
    queryParameter('_sort', `One of ${sorts.join(', ')}; a minus before it for the reverse.`),
    ...CONTROLS,
    PRETTY,
  ];
}

const body = (type: ResourceType) => ({
  required: true,
  content: { [FHIR_JSON]: { schema: ref('Resource'), example: EXAMPLES[type] } },
});

function pathsOf(type: ResourceType): Record<string, PathItem> {
  const tags = [`FHIR ${type}`];
  const make = (
    name: string,
    access: 'read' | 'write',
    summary: string,
    rest: Pick<OperationObject, 'responses'> & Partial<OperationObject>,
  ): OperationObject => ({ tags, summary, operationId: `${name}${type}`, ...security(type, access), ...rest });

  const written = {
    '200': answer('It is updated, or unchanged.', 'Resource'),
    '201': answer('It is created; see `Location`.', 'Resource'),
  };
  const bundle = { '200': answer('The matches.', 'Bundle') };
  const form = searchParameters(type).map(({ name, schema }) => [name, schema] as const);

  return {
    [`/fhir/${type}`]: {
      get: make('search', 'read', `Search ${type}`, {
        parameters: searchParameters(type),
        responses: { ...bundle, ...REFUSALS },
      }),
      post: make('create', 'write', `Create a ${type}`, {
        parameters: [headerParameter('If-None-Exist', 'Create only when this search finds nothing.'), PREFER],
        requestBody: body(type),
        responses: { ...written, ...WRITE_REFUSALS },
      }),
      put: make('conditionalUpdate', 'write', `Update the one ${type} that a search finds, or create it`, {
        parameters: [
          ...Object.entries(SERVED_TYPES[type].searchParameters).map(([name, { documentation }]) =>
            queryParameter(name, documentation),
          ),
          PREFER,
        ],
        requestBody: body(type),
        responses: { ...written, ...WRITE_REFUSALS },
      }),
    },
    [`/fhir/${type}/_search`]: {
      post: make('searchByPost', 'read', `Search ${type} by a form`, {
        requestBody: {
          required: false,
          content: {
            'application/x-www-form-urlencoded': { schema: { type: 'object', properties: Object.fromEntries(form) } },
          },
        },
        responses: { ...bundle, ...REFUSALS },
      }),
    },
    [`/fhir/${type}/$validate`]: {
      post: make('validate', 'write', `Validate a ${type} without storing it`, {
        requestBody: body(type),
        responses: { '200': outcome('What was found.'), ...REFUSALS },
      }),
    },
    [`/fhir/${type}/{id}`]: {
      get: make('read', 'read', `Read a ${type}`, {
        parameters: [ID, headerParameter('If-None-Match', 'Answer 304 when this is the version.'), PRETTY],
        responses: { '200': answer('The resource.', 'Resource'), ...REFUSALS, ...NOT_FOUND },
      }),
      put: make('update', 'write', `Update a ${type}`, {
        parameters: [ID, IF_MATCH, PREFER],
        requestBody: body(type),
        responses: { ...written, ...WRITE_REFUSALS, ...NOT_FOUND },
      }),
    },
    [`/fhir/${type}/{id}/_history`]: {
      get: make('history', 'read', `All versions of a ${type}`, {
        parameters: [ID],
        responses: { '200': answer('The versions, the newest first.', 'Bundle'), ...REFUSALS, ...NOT_FOUND },
      }),
    },
    [`/fhir/${type}/{id}/_history/{version}`]: {
      get: make('vread', 'read', `Read one version of a ${type}`, {
        parameters: [ID, pathParameter('version', 'The version.', { type: 'integer' })],
        responses: { '200': answer('The resource as it was.', 'Resource'), ...REFUSALS, ...NOT_FOUND },
      }),
    },
  };
}

const TAGS = ['FHIR'];

export const FHIR_PATHS: Paths = {
  '/fhir/metadata': {
    get: {
      tags: TAGS,
      summary: 'CapabilityStatement',
      operationId: 'metadata',
      security: [],
      responses: { '200': answer('What this server can do.', 'Resource') },
    },
  },
  '/fhir': {
    post: {
      tags: TAGS,
      summary: 'Batch or transaction',
      description: 'Each entry needs the scope of its own interaction.',
      operationId: 'bundle',
      security: [{ accessToken: [] }],
      requestBody: {
        required: true,
        content: {
          [FHIR_JSON]: {
            schema: ref('Bundle'),
            example: {
              resourceType: 'Bundle',
              type: 'batch',
              entry: [{ request: { method: 'GET', url: 'Patient?_count=5' } }],
            },
          },
        },
      },
      responses: { '200': answer('An entry for each entry.', 'Bundle'), ...WRITE_REFUSALS },
    },
  },
  ...Object.assign({}, ...RESOURCE_TYPES.map(pathsOf)),
};
