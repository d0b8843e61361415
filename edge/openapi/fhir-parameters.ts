/** The parameters of the FHIR API in the OpenAPI document, from the tables that searches use. */
import { DEFAULT_COUNT, MAX_COUNT, READ_SUMMARIES, SUMMARIES, TOTALS } from '../fhir/controls/controls.ts';
import type { SearchSet } from '../config.ts';
import { PROVENANCE_TARGET } from '../fhir/provenance.ts';
import { includesOf, revincludesOf, type Supported } from '../fhir/search/include.ts';
import { modifiersOf } from '../fhir/search/named-parameter.ts';
import { relatedNames } from '../fhir/search/related-parameter.ts';
import { parametersOf, sortsOf } from '../store/search/parameters.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { SEARCHES } from './fhir-examples.ts';
import { headerParameter, type Parameter, pathParameter, queryParameter, uuid } from './model.ts';

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
export const READ_CONTROLS: readonly Parameter[] = [
  queryParameter('_summary', 'A part of the resource.', { type: 'string', enum: READ_SUMMARIES }),
  queryParameter('_elements', 'Only these elements, with commas between.'),
];
export const PRETTY = queryParameter('_pretty', 'Indented.', { type: 'boolean' });
export const PREFER = headerParameter(
  'Prefer',
  '`return=representation` (default), `return=minimal` or `return=OperationOutcome`',
);
export const IF_MATCH = headerParameter('If-Match', 'The version to overwrite, as in `ETag`.');
export const VALIDATE: readonly Parameter[] = [
  queryParameter('mode', 'The write to check.', { type: 'string', enum: ['create', 'update'] }),
  queryParameter('profile', 'The definition of the type in FHIR R4; other profiles are not supported.'),
];
export const ID = pathParameter('id', 'The id that the server gave.', uuid);

export const SINCE = queryParameter('_since', 'Only what changed at this instant or after.', {
  type: 'string',
  format: 'date-time',
});
export const PAGE_COUNT = queryParameter('_count', 'How many in a page.', {
  type: 'integer',
  minimum: 1,
  maximum: MAX_COUNT,
  default: DEFAULT_COUNT,
});
export const TYPES = queryParameter('_type', 'Only these types, with commas between.');
export const VERSION = pathParameter('version', 'The version.', { type: 'integer' });

const criteria = (type: ResourceType, searches: SearchSet): Parameter[] =>
  Object.entries(parametersOf(searches, type)).flatMap(([name, parameter]) => [
    queryParameter(name, parameter.documentation),
    ...modifiersOf(searches, name, parameter).map((modifier) =>
      queryParameter(`${name}:${modifier}`, MODIFIERS[modifier] ?? ''),
    ),
  ]);

/** The criteria of a condition, which needs one: those that find the example have a value. */
export const conditions = (type: ResourceType, searches: SearchSet): Parameter[] =>
  criteria(type, searches).map((parameter) => {
    const example = SEARCHES[type][parameter.name];
    return example === undefined ? parameter : { ...parameter, example };
  });

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

export function searchParameters(type: ResourceType, supported: Supported): Parameter[] {
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
