/** The FHIR API in the OpenAPI document, made from the tables that routes, searches and the CapabilityStatement use. */
import { interactionsOf } from '../fhir/type-interactions.ts';
import type { SearchSet } from '../config.ts';
import type { Supported } from '../fhir/search/include.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { bulkDataPaths } from './bulk-data-paths.ts';
import { publicDocument } from './public-document.ts';
import { failuresOf } from './answers.ts';
import { answer, bodyOf } from './fhir-answers.ts';
import { DESCRIPTIONS, writeRefusals } from './fhir-interactions.ts';
import { PRETTY } from './fhir-parameters.ts';
import { bodiless, type Method, type PathItem, type Paths, queryParameter } from './model.ts';

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
