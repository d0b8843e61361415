/** The FHIR API in the OpenAPI document, made from the tables that routes, searches and the CapabilityStatement use. */
import { DEFAULT_COUNT, MAX_COUNT, READ_SUMMARIES, SUMMARIES, TOTALS } from '../fhir/controls/controls.ts';
import { JSON_PATCH } from '../fhir/media-type.ts';
import { type InteractionName, interactionsOf } from '../fhir/type-interactions.ts';
import type { SearchSet } from '../config.ts';
import { PROVENANCE_TARGET } from '../fhir/provenance.ts';
import { includesOf, revincludesOf, type Supported } from '../fhir/search/include.ts';
import { modifiersOf } from '../fhir/search/named-parameter.ts';
import { relatedNames } from '../fhir/search/related-parameter.ts';
import { parametersOf, sortsOf } from '../store/search/parameters.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { bulkDataPaths } from './bulk-data-paths.ts';
import { EXAMPLES, PATCHES, SAMPLE_ID, SEARCHES } from './fhir-examples.ts';
import { publicDocument } from './public-document.ts';
import { failuresOf, type Kind, WITH_BODY } from './answers.ts';
import { answer, bodyOf, OF_VERSION, outcome, parametersBody, refusals } from './fhir-answers.ts';
import {
  bodiless,
  headerParameter,
  type Method,
  type OperationObject,
  type Parameter,
  pathParameter,
  type PathItem,
  type Paths,
  queryParameter,
  requestBody,
  uuid,
} from './model.ts';

const writeRefusals = (...more: readonly Kind[]) => refusals('invalid', 'precondition-failed', ...WITH_BODY, ...more);

const CONTROLS: readonly Parameter[] = [
  queryParameter('_count', 'How many in a page.', {
    type: 'integer',
    minimum: 0,
    maximum: MAX_COUNT,
    default: DEFAULT_COUNT,
  }),
  queryParameter('_total', '`accurate` counts all; so does `estimate`.', { type: 'string', enum: TOTALS }),
  queryParameter('_summary', '`count`: only the number of matches; `true`, `text`, `data`: a part of each resource.', {
    type: 'string',
    enum: SUMMARIES,
  }),
  queryParameter('_elements', 'Only these elements, with commas between.'),
];
const READ_CONTROLS: readonly Parameter[] = [
  queryParameter('_summary', 'A part of the resource.', { type: 'string', enum: READ_SUMMARIES }),
  queryParameter('_elements', 'Only these elements, with commas between.'),
];
const PRETTY = queryParameter('_pretty', 'Indented.', { type: 'boolean' });
const PREFER = headerParameter(
  'Prefer',
  '`return=representation` (default), `return=minimal` or `return=OperationOutcome`',
);
const IF_MATCH = headerParameter('If-Match', 'The version to overwrite, as in `ETag`.');
const VALIDATE: readonly Parameter[] = [
  queryParameter('mode', 'The write to check.', { type: 'string', enum: ['create', 'update'] }),
  queryParameter('profile', 'The definition of the type in FHIR R4; other profiles are not supported.'),
];
const ID = pathParameter('id', 'The id that the server gave.', uuid);

const SINCE = queryParameter('_since', 'Only what changed at this instant or after.', {
  type: 'string',
  format: 'date-time',
});
const PAGE_COUNT = queryParameter('_count', 'How many in a page.', {
  type: 'integer',
  minimum: 1,
  maximum: MAX_COUNT,
  default: DEFAULT_COUNT,
});
const TYPES = queryParameter('_type', 'Only these types, with commas between.');
const EVERYTHING =
  'The patient, the patients merged into it, and their resources of the types that the token may read. An ' +
  'OperationOutcome lists the omitted types.';
const DOCREF =
  'Stored documents, the newest first; the server generates none. Without `start` and `end` those with the status `current`.';
const VERSION = pathParameter('version', 'The version.', { type: 'integer' });

const criteria = (type: ResourceType, searches: SearchSet): Parameter[] =>
  Object.entries(parametersOf(searches, type)).flatMap(([name, parameter]) => [
    queryParameter(name, parameter.documentation),
    ...modifiersOf(searches, name, parameter).map((modifier) =>
      queryParameter(`${name}:${modifier}`, MODIFIERS[modifier] ?? ''),
    ),
  ]);

/** The criteria of a condition, which needs one: those that find the example have a value. */
const conditions = (type: ResourceType, searches: SearchSet): Parameter[] =>
  criteria(type, searches).map((parameter) => {
    const example = SEARCHES[type][parameter.name];
    return example === undefined ? parameter : { ...parameter, example };
  });

const needsRead = (type: ResourceType): string =>
  `By other parameters than \`identifier\` and \`_id\` it needs \`system/${type}.read\` too.`;

const includes = (type: ResourceType, supported: Supported): Parameter[] =>
  [
    ['_include', 'Also returns the patients of the matches. Needs `system/Patient.read` too.', includesOf] as const,
    [
      '_revinclude',
      'Also returns the resources about the patients, or the Provenance. Needs the `.read` of the type too.',
      revincludesOf,
    ] as const,
  ].flatMap(([name, description, valuesOf]) => {
    const known = valuesOf(supported, type);
    return known.length === 0 ? [] : [queryParameter(name, description, { type: 'string', enum: known })];
  });

function searchParameters(type: ResourceType, supported: Supported): Parameter[] {
  const { searches } = supported;
  if (type === 'Provenance') {
    return [
      { ...queryParameter(PROVENANCE_TARGET.name, PROVENANCE_TARGET.documentation), required: true },
      PAGE_COUNT,
      PRETTY,
    ];
  }
  return [
    ...criteria(type, searches),
    ...relatedNames(searches, type).map(([name, what]) => queryParameter(name, what)),
    ...includes(type, supported),
    queryParameter(
      '_sort',
      `${sortsOf(type, searches).join(', ')}, separated by commas; with a minus before it, in reverse.`,
    ),
    ...CONTROLS,
    PRETTY,
  ];
}

const MODIFIERS: Readonly<Record<string, string>> = {
  missing: '`true`: only resources without a value; `false`: only those with a value.',
  exact: 'The complete value, with case and accents.',
  contains: 'Any part of it; case and accents do not matter.',
  not: 'Only resources without any of these values.',
  Patient: 'The same as without `:Patient`: the id of a patient.',
};

const form = (type: ResourceType, supported: Supported) => {
  const properties = Object.fromEntries(searchParameters(type, supported).map(({ name, schema }) => [name, schema]));
  const schema = { type: 'object', properties };
  return { ...requestBody('application/x-www-form-urlencoded', schema, SEARCHES[type]), required: false };
};

const written = (type: ResourceType) => ({
  '200': answer('It is updated, or unchanged.', type, 'Location', ...OF_VERSION),
  '201': answer('It is created; see `Location`.', type, 'Location', ...OF_VERSION),
});
const patched = (type: ResourceType) => ({
  '200': answer('It is patched, or unchanged.', type, 'Location', ...OF_VERSION),
});
const NOT_MODIFIED = {
  '304': bodiless('The version has not changed.', ...OF_VERSION),
};
const patchBody = (type: ResourceType) =>
  requestBody(JSON_PATCH, { type: 'array', items: { type: 'object' } }, PATCHES[type]);
const PATCH_REFUSALS = {
  ...writeRefusals('not-found', 'conflict'),
  '415': outcome('The body is not a JSON Patch; see `Accept-Patch`.', 'Accept-Patch'),
};
const MATCHES = { '200': answer('The matches.', 'Bundle') };

/** The description of an interaction; its address and scope come from the routes. */
type Described = Pick<OperationObject, 'summary' | 'description' | 'parameters' | 'requestBody' | 'responses'>;

const DESCRIPTIONS: Readonly<Record<InteractionName, (type: ResourceType, supported: Supported) => Described>> = {
  search: (type, supported) => ({
    summary: `Search ${type}`,
    parameters: searchParameters(type, supported),
    responses: { ...MATCHES, ...refusals('invalid') },
  }),
  create: (type) => ({
    summary: `Create a ${type}`,
    parameters: [
      headerParameter('If-None-Exist', `Create only when this search finds nothing. ${needsRead(type)}`),
      PREFER,
    ],
    requestBody: bodyOf(type, EXAMPLES[type]),
    responses: { ...written(type), ...writeRefusals() },
  }),
  conditionalUpdate: (type, supported) => ({
    summary: `Update the one ${type} that a search finds, or create it`,
    description: needsRead(type),
    parameters: [...conditions(type, supported.searches), PREFER],
    requestBody: bodyOf(type, EXAMPLES[type]),
    responses: { ...written(type), ...writeRefusals() },
  }),
  searchByGet: (type, supported) => ({
    summary: `Search ${type}, as without \`_search\``,
    parameters: searchParameters(type, supported),
    responses: { ...MATCHES, ...refusals('invalid') },
  }),
  compartment: (type, supported) => ({
    summary: `Search ${type} resources about a patient`,
    parameters: [ID, ...searchParameters(type, supported)],
    responses: { ...MATCHES, ...refusals('invalid') },
  }),
  searchByPost: (type, supported) => ({
    summary: `Search ${type} by a form`,
    requestBody: form(type, supported),
    responses: { ...MATCHES, ...refusals('invalid', ...WITH_BODY) },
  }),
  validate: (type) => ({
    summary: `Validate a ${type} without storing it`,
    parameters: VALIDATE,
    requestBody: bodyOf(type, EXAMPLES[type]),
    responses: {
      '200': outcome('The result of the validation.'),
      ...refusals('invalid', 'precondition-failed', ...WITH_BODY),
    },
  }),
  validateInstance: (type) => ({
    summary: `Validate an update of a ${type} without storing it`,
    parameters: [ID, ...VALIDATE],
    requestBody: bodyOf(type, EXAMPLES[type]),
    responses: {
      '200': outcome('The result of the validation.'),
      ...refusals('invalid', 'precondition-failed', 'not-found', ...WITH_BODY),
    },
  }),
  read: (type) => ({
    summary: `Read a ${type}`,
    parameters: [
      ID,
      headerParameter('If-None-Match', 'Answer 304 when this is the version.'),
      ...READ_CONTROLS,
      PRETTY,
    ],
    responses: {
      '200': answer('The resource.', type, ...OF_VERSION),
      ...NOT_MODIFIED,
      ...refusals('not-found', 'precondition-failed'),
    },
  }),
  update: (type) => ({
    summary: `Update a ${type}`,
    parameters: [ID, IF_MATCH, PREFER],
    requestBody: bodyOf(type, EXAMPLES[type]),
    responses: { ...written(type), ...writeRefusals('not-found') },
  }),
  patch: (type) => ({
    summary: `Patch a ${type}`,
    parameters: [ID, IF_MATCH, PREFER],
    requestBody: patchBody(type),
    responses: { ...patched(type), ...PATCH_REFUSALS },
  }),
  conditionalPatch: (type, supported) => ({
    summary: `Patch the one ${type} that a search finds`,
    parameters: [...conditions(type, supported.searches), IF_MATCH, PREFER],
    requestBody: patchBody(type),
    responses: { ...patched(type), ...PATCH_REFUSALS },
  }),
  history: (type) => ({
    summary: `All versions of a ${type}`,
    parameters: [ID, SINCE, PAGE_COUNT, PRETTY],
    responses: { '200': answer('The versions, the newest first.', 'Bundle'), ...refusals('not-found') },
  }),
  typeHistory: (type) => ({
    summary: `All versions of every ${type}`,
    parameters: [SINCE, PAGE_COUNT, PRETTY],
    responses: { '200': answer('The versions, the newest first.', 'Bundle'), ...refusals() },
  }),
  everything: () => ({
    summary: 'All that the site has of a patient',
    parameters: [ID, TYPES, SINCE, PAGE_COUNT, PRETTY],
    responses: { '200': answer(EVERYTHING, 'Bundle'), ...refusals('not-found') },
  }),
  everythingByPost: () => ({
    summary: 'All that the site has of a patient, asked for by Parameters',
    parameters: [ID],
    requestBody: parametersBody({ name: '_type', valueCode: 'Observation' }),
    responses: { '200': answer(EVERYTHING, 'Bundle'), ...refusals('not-found', ...WITH_BODY) },
  }),
  docref: () => ({
    summary: 'The documents of a patient',
    description: DOCREF,
    parameters: [
      { ...queryParameter('patient', 'The id of the patient.'), required: true },
      queryParameter('start', 'Only documents of care after this date or time, or during it.'),
      queryParameter('end', 'Only documents of care before this date or time, or during it.'),
      queryParameter('type', 'The type of the document: [code] or [system]|[code]; several with commas.'),
      queryParameter('on-demand', '`true`: only documents that the server generates. It generates no documents.', {
        type: 'boolean',
      }),
      PAGE_COUNT,
      PRETTY,
    ],
    responses: { '200': answer('The DocumentReferences.', 'Bundle'), ...refusals('invalid') },
  }),
  docrefByPost: () => ({
    summary: 'The documents of a patient, asked for by Parameters',
    description: DOCREF,
    requestBody: parametersBody(
      { name: 'patient', valueId: SAMPLE_ID },
      { name: 'type', valueCoding: { system: 'http://loinc.org', code: '34133-9' } },
    ),
    responses: { '200': answer('The DocumentReferences.', 'Bundle'), ...refusals('invalid', ...WITH_BODY) },
  }),
  match: () => ({
    summary: 'The patients that may be a person',
    description:
      'The API key needs `patientMatch`. The Bundle has the most likely patient first, and in each entry `search.score` and ' +
      'the extension match-grade: `certain`, `probable`, `possible` or `certainly-not`.',
    requestBody: {
      ...parametersBody(
        { name: 'resource', resource: EXAMPLES.Patient },
        { name: 'onlyCertainMatches', valueBoolean: false },
        { name: 'count', valueInteger: 3 },
      ),
      required: true,
    },
    responses: {
      '200': answer('At most ten patients; none is an empty Bundle.', 'Bundle'),
      ...refusals('invalid', 'precondition-failed', ...WITH_BODY),
    },
  }),
  vread: (type) => ({
    summary: `Read one version of a ${type}`,
    parameters: [ID, VERSION],
    responses: {
      '200': answer('The resource as it was.', type, ...OF_VERSION),
      ...NOT_MODIFIED,
      ...refusals('not-found', 'precondition-failed'),
    },
  }),
};

const OPENAPI_METHODS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch' } as const satisfies Record<
  string,
  Method
>;

const NEEDED = {
  read: (type: ResourceType) => `scope \`system/${type}.read\``,
  write: (type: ResourceType) => `scope \`system/${type}.write\``,
  both: (type: ResourceType) => `scopes \`system/${type}.read\` and \`system/${type}.write\``,
} as const;

/** The router's `/:id` is `/{id}` here, and its `/:operation{\\$validate}` is `/$validate`. */
const templateOf = (path: string): string => path.replace(/:\w+\{\\([^{}]+)\}/, '$1').replace(/:(\w+)/g, '{$1}');

function pathsOf(type: ResourceType, supported: Supported): [path: string, item: PathItem][] {
  const byPath = Map.groupBy(
    interactionsOf(type, supported.searches),
    ({ path, ofPatient }) => `${ofPatient === true ? 'Patient/{id}/' : ''}${type}${templateOf(path)}`,
  );
  return [...byPath].map(([path, interactions]) => {
    const operations = interactions.map(({ name, method, scope }) => {
      const { description, ...described } = DESCRIPTIONS[name](type, supported);
      const needs = `Needs ${NEEDED[scope](type)} and audience \`svc-fhir\`.`;
      return [
        OPENAPI_METHODS[method],
        {
          tags: [`FHIR ${type}`],
          operationId: `${name}${type}`,
          security: [{ accessToken: [] }],
          description: description === undefined ? needs : `${needs} ${description}`,
          ...described,
        },
      ];
    });
    return [`/fhir/${path}`, Object.fromEntries(operations)];
  });
}

const TAGS = ['FHIR'];

/**
 * @param searches the supported search parameters
 * @param types the types of the deployment
 */
export const fhirPaths = (searches: SearchSet, types: readonly ResourceType[]): Paths => ({
  '/fhir/metadata': {
    get: {
      tags: TAGS,
      summary: 'CapabilityStatement',
      operationId: 'metadata',
      security: [],
      parameters: [queryParameter('_format', 'JSON.'), PRETTY],
      responses: {
        '200': answer('The CapabilityStatement.', 'CapabilityStatement', 'ETag'),
        '304': bodiless('The document has not changed.', 'ETag'),
        ...failuresOf('Fhir', ['malformed', 'not-acceptable', 'unavailable', 'bug']),
      },
    },
  },
  '/fhir': {
    post: {
      tags: TAGS,
      summary: 'Batch or transaction',
      description:
        'Each entry needs the scope of its interaction. In a transaction a reference may be a search, `Patient?identifier=…`; ' +
        'by other parameters than `identifier` and `_id` it needs the `.read` of its type. The answer contains 16 MiB of resources at most, ' +
        'or 8 MiB if the Bundle also writes or has more than 64 KiB. An entry that reads more is 422 `too-costly`, and so is a transaction that has one.',
      operationId: 'bundle',
      security: [{ accessToken: [] }],
      requestBody: bodyOf('Bundle', {
        resourceType: 'Bundle',
        type: 'batch',
        entry: [{ request: { method: 'GET', url: 'Patient?_count=5' } }],
      }),
      responses: { '200': answer('An answer for each entry.', 'Bundle'), ...writeRefusals('not-found', 'conflict') },
    },
  },
  '/fhir/.well-known/smart-configuration': {
    get: { ...publicDocument('smartConfigurationOfFhir', 'SMART configuration, where SMART clients look'), tags: TAGS },
  },
  ...bulkDataPaths(types),
  ...Object.fromEntries(types.flatMap((type) => pathsOf(type, { searches, types }))),
});
