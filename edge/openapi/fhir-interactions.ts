/** The interactions of a type in the OpenAPI document. */
import { JSON_PATCH } from '../fhir/media-type.ts';
import type { InteractionName } from '../fhir/type-interactions.ts';
import type { Supported } from '../fhir/search/include.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { EXAMPLES, PATCHES, SAMPLE_ID, SEARCHES } from './fhir-examples.ts';
import { type Kind, WITH_BODY } from './answers.ts';
import { answer, bodyOf, OF_VERSION, outcome, parametersBody, refusals } from './fhir-answers.ts';
import {
  conditions,
  ID,
  IF_MATCH,
  PAGE_COUNT,
  PREFER,
  PRETTY,
  READ_CONTROLS,
  searchParameters,
  SINCE,
  TYPES,
  VALIDATE,
  VERSION,
} from './fhir-parameters.ts';
import { bodiless, headerParameter, type OperationObject, queryParameter, requestBody } from './model.ts';

export const writeRefusals = (...more: readonly Kind[]) =>
  refusals('invalid', 'precondition-failed', ...WITH_BODY, ...more);

const EVERYTHING =
  'The patient, the patients merged into it, and their resources of the types that the token may read. An ' +
  'OperationOutcome lists the omitted types.';
const DOCREF =
  'Stored documents, the newest first; the server generates none. Without `start` and `end` those with the status `current`.';
const needsRead = (type: ResourceType): string =>
  `By other parameters than \`identifier\` and \`_id\` it needs \`system/${type}.read\` too.`;

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

export const DESCRIPTIONS: Readonly<Record<InteractionName, (type: ResourceType, supported: Supported) => Described>> =
  {
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
