/** Bulk Data Access 2.0.0 in the OpenAPI document. */
import { RESOURCE_TYPES, type ResourceType } from '../../shared/resource-type.ts';
import { FHIR_NDJSON } from '../fhir/media-type.ts';
import { type Kind, WITH_BODY } from './answers.ts';
import { outcome, parametersBody, refusals } from './fhir-answers.ts';
import {
  answered,
  bodiless,
  headerParameter,
  type OperationObject,
  type Parameter,
  pathParameter,
  type Paths,
  queryParameter,
  text,
  uuid,
} from './model.ts';

const OPERATION = { tags: ['FHIR bulk data'], security: [{ accessToken: [] }] };

const PREFER = {
  ...headerParameter('Prefer', '`respond-async`; `handling=lenient`'),
  required: true,
  example: 'respond-async',
};
const parameters = (types: readonly ResourceType[]): readonly Parameter[] => [
  queryParameter('_type', `With commas between: ${types.join(', ')}. Default: all that the token may read.`),
  queryParameter('_since', 'Only resources that changed after this instant.'),
  queryParameter(
    '_typeFilter',
    'A search, `[type]?[parameters]`: only the resources of the type that match it. Several of a type are alternatives.',
  ),
  queryParameter('_outputFormat', 'NDJSON.', {
    type: 'string',
    enum: [FHIR_NDJSON, 'application/ndjson', 'ndjson'],
    default: FHIR_NDJSON,
  }),
];
const BEGUN = { '202': outcome('The export has begun.', 'Content-Location') };

interface KickOffs {
  readonly get: OperationObject;
  readonly post: OperationObject;
}

const kickOffs = (
  what: string,
  id: string,
  types: readonly ResourceType[] = RESOURCE_TYPES,
  inPath: readonly Parameter[] = [],
  of: readonly Kind[] = [],
): KickOffs => ({
  get: {
    ...OPERATION,
    summary: `Begin an export of ${what}`,
    operationId: `export${id}`,
    parameters: [...inPath, PREFER, ...parameters(types)],
    responses: { ...BEGUN, ...refusals('invalid', ...of) },
  },
  post: {
    ...OPERATION,
    summary: `Begin an export of ${what}, by Parameters`,
    operationId: `export${id}ByPost`,
    parameters: [...inPath, PREFER],
    requestBody: parametersBody({ name: '_type', valueString: 'Patient,Observation' }),
    responses: { ...BEGUN, ...refusals('invalid', ...of, ...WITH_BODY) },
  },
});

const ID = pathParameter('id', 'The export.', uuid);
const URL_OF_FILE = { type: 'object', properties: { type: text, url: text, count: { type: 'integer' } } };
const MANIFEST = {
  type: 'object',
  properties: {
    transactionTime: { type: 'string', format: 'date-time' },
    request: text,
    requiresAccessToken: { const: true },
    output: { type: 'array', items: URL_OF_FILE },
    deleted: { type: 'array', maxItems: 1, items: URL_OF_FILE },
    error: { type: 'array', items: URL_OF_FILE },
  },
};

/** @param types the types of the deployment */
export const bulkDataPaths = (types: readonly ResourceType[]): Paths => ({
  '/fhir/$export': kickOffs('everything in the site', 'System', types),
  '/fhir/Patient/$export': kickOffs('all patients and what is about them', 'Patients'),
  ...(types.includes('Group')
    ? {
        '/fhir/Group/{id}/$export': kickOffs(
          'the members of a Group and what is about them',
          'Group',
          RESOURCE_TYPES,
          [pathParameter('id', 'The Group.', uuid)],
          ['not-found'],
        ),
      }
    : {}),
  '/fhir/$export/{id}': {
    get: {
      ...OPERATION,
      summary: 'Read the progress of an export, or its manifest',
      operationId: 'exportStatus',
      parameters: [ID],
      responses: {
        '200': answered('The export is complete.', 'application/json', MANIFEST, 'Expires'),
        '202': bodiless(
          'The export is not complete; see `X-Progress`. Repeat the request after `Retry-After` seconds.',
          'X-Progress',
          'Retry-After',
        ),
        ...refusals('not-found'),
      },
    },
    delete: {
      ...OPERATION,
      summary: 'Cancel an export, or delete its files',
      operationId: 'cancelExport',
      parameters: [ID],
      responses: { '202': outcome('The export was deleted.'), ...refusals('not-found') },
    },
  },
  '/fhir/$export/{id}/{file}': {
    get: {
      ...OPERATION,
      summary: 'Download a file of an export',
      operationId: 'exportFile',
      parameters: [ID, pathParameter('file', 'The name in the manifest.', text)],
      responses: {
        '200': answered('One resource a line.', FHIR_NDJSON, text),
        ...refusals('not-found'),
      },
    },
  },
});
