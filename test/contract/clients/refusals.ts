/**
 * Calls that client libraries offer and this server rejects, each with the sentence that a developer reads. `npm run generate` makes
 * the table of edge/docs/libraries.md from these.
 */

/** The libraries, by the names of their packages. */
export type ClientName =
  | 'fhir-kit-client'
  | 'fhirclient (JavaScript)'
  | '@medplum/core'
  | 'fhirpy'
  | 'fhirclient (Python)'
  | 'HAPI FHIR';

export interface Refusal {
  readonly what: string;
  readonly status: number;
  readonly says: RegExp;
  /** Another way to the same result. */
  readonly instead: string;
  readonly calls: Partial<Readonly<Record<ClientName, readonly string[]>>>;
}

export const REFUSALS: readonly Refusal[] = [
  {
    what: 'Delete by id or by search',
    status: 405,
    says: /DELETE is not supported at this address.*entered-in-error/,
    instead: 'an update with the status `entered-in-error`; for a Patient `active` false',
    calls: {
      'fhir-kit-client': ['delete'],
      'fhirclient (JavaScript)': ['delete'],
      '@medplum/core': ['delete', 'deleteResource'],
      fhirpy: ['delete', 'delete by search', 'delete of a resource', 'delete of a reference'],
      'fhirclient (Python)': ['delete', 'delete_json'],
      'HAPI FHIR': ['delete', 'delete conditionally'],
    },
  },
  {
    what: 'An update with a part of a resource, from a search or read with `_elements` or `_summary`',
    status: 422,
    says: /Read the complete resource, change it, and write it/,
    instead: 'an update of the complete resource, read without them; or a JSON Patch',
    calls: {
      'fhir-kit-client': ['update of a part'],
      '@medplum/core': ['updateResource of a part'],
      fhirpy: ['save of a part'],
      'fhirclient (Python)': ['update of a part'],
      'HAPI FHIR': ['update of a part'],
    },
  },
  {
    what: 'Patches other than JSON Patch (RFC 6902), such as fhirpy’s merge or FHIRPath Patch',
    status: 415,
    says: /only JSON Patch \(RFC 6902\) is supported/,
    instead: 'a JSON Patch, or an update of the whole resource, with `If-Match`',
    calls: {
      fhirpy: ['patch', 'patch by search', 'patch of a resource', 'patch of a reference', 'save of some fields'],
      'HAPI FHIR': ['patch with FHIRPath'],
    },
  },
  {
    what: 'Conditional create with the condition in the URL (fhirpy `get_or_create`)',
    status: 400,
    says: /send the condition of a create as If-None-Exist/,
    instead: 'the header `If-None-Exist`, or a conditional update (fhirpy `search(…).update(…)`)',
    calls: { fhirpy: ['get_or_create', 'create of a resource by search'] },
  },
  {
    what: 'Compartments: `Patient/[id]/Observation`',
    status: 404,
    says: /compartments are not supported: search (Condition|Observation)\?patient=\[id\]/,
    instead: '`Observation?patient=[id]`',
    calls: {
      'fhir-kit-client': ['compartmentSearch', 'search in a compartment'],
      'fhirclient (JavaScript)': ['request of a compartment'],
      'HAPI FHIR': ['search in a compartment'],
    },
  },
  {
    what: 'Search of all types',
    status: 405,
    says: /to search, send GET \[type\]\?\[parameters\]/,
    instead: 'a search of each type, several in a batch',
    calls: {
      'fhir-kit-client': ['systemSearch', 'search of all types'],
      'HAPI FHIR': ['search of all types'],
    },
  },
  {
    what: 'Search of all types by POST',
    status: 404,
    says: /_search is not supported at this address/,
    instead: 'a search of each type, several in a batch',
    calls: { 'fhir-kit-client': ['systemSearch by POST'] },
  },
  {
    what: 'History of all types',
    status: 404,
    says: /_history is not supported at this address/,
    instead: 'the history of each type',
    calls: {
      'fhir-kit-client': ['systemHistory', 'history of all types'],
      'HAPI FHIR': ['history of all types'],
    },
  },
  {
    what: 'Operations other than `$validate`, `$everything`, `$match` and `$export`, and US Core’s `$docref`',
    status: 404,
    says: /\$[\w-]+ is not supported at this address: \/fhir\/metadata lists what this server supports/,
    instead: 'searches; the CapabilityStatement lists what is supported',
    calls: {
      'fhir-kit-client': ['operation $lastn'],
      '@medplum/core': ['readPatientSummary', 'readResourceGraph', 'requestSchema', 'valueSetExpand', 'graphql'],
      'HAPI FHIR': ['meta', 'meta added'],
    },
  },
  {
    what: 'Other resource types, such as Binary, Media or StructureDefinition',
    status: 404,
    says: /this address does not exist; resource types: Patient, /,
    instead: 'for a document, `data` in its attachment',
    calls: {
      '@medplum/core': [
        'readCanonical',
        'requestProfileSchema',
        'createAttachment',
        'createBinary',
        'createComment',
        'createMedia',
        'uploadMedia',
        'createDocumentReference',
      ],
    },
  },
  {
    what: 'Search parameters that are not listed, such as `_include`, `_revinclude`, `_has`, chains and `_totalMethod` (fhirpy `count`)',
    status: 400,
    says: /[\w.:]+ is not a parameter that can be used here; supported: _id, /,
    instead: 'the parameters that the answer lists; for a count `_summary=count`',
    calls: {
      'fhirclient (JavaScript)': ['request of a chained search'],
      '@medplum/core': ['search with fields', 'search with _include'],
      fhirpy: ['count', 'search by subject', 'include', 'revinclude', 'has'],
      'fhirclient (Python)': ['search', 'search chained', 'include', 'include in reverse'],
      'HAPI FHIR': [
        'search by family',
        'search by subject',
        'search by date',
        'search by category',
        'search by tag',
        'search by profile',
        'search by security label',
        'search chained',
        'search with has',
        'search with include',
        'search with reverse include',
      ],
    },
  },
  {
    what: 'Modifiers: `:exact`, `:missing` or a type',
    status: 400,
    says: /the modifier of [\w.:]+ is not supported; supported: _id, /,
    instead: 'the parameter without a modifier; the client then filters the results',
    calls: {
      fhirpy: ['search exactly', 'search by missing value', 'search chained'],
      'fhirclient (Python)': ['search exactly', 'search by missing value'],
      'HAPI FHIR': ['search exactly', 'search by missing value'],
    },
  },
  {
    what: '`birthdate` with a prefix',
    status: 400,
    says: /birthdate (is compared exactly|must be a date)/,
    instead: 'the date exactly as it is stored',
    calls: {
      fhirpy: ['search by a day before'],
      'fhirclient (Python)': ['search by a day before'],
      'HAPI FHIR': ['search by a day before'],
    },
  },
  {
    what: 'Sort by `birthdate` and then by `_lastUpdated`',
    status: 400,
    says: /_sort cannot have _lastUpdated after birthdate/,
    instead: '`_sort=birthdate,name` or `_lastUpdated,birthdate`',
    calls: { 'HAPI FHIR': ['search sorted twice'] },
  },
  {
    what: '`_elements` with elements to exclude (fhirpy `elements(exclude=True)`)',
    status: 400,
    says: /_elements must be names of top-level elements/,
    instead: 'the elements to include',
    calls: { fhirpy: ['elements but some'] },
  },
  {
    what: '`GET [type]/_search`',
    status: 405,
    says: /GET is not supported at this address; use POST(?! of)/,
    instead: '`POST [type]/_search`, or `GET [type]?…`',
    calls: { 'HAPI FHIR': ['search by GET of _search'] },
  },
  {
    what: 'Bundle entries without `request.url` (HAPI `transaction().withResources`)',
    status: 400,
    says: /url is required: the type, such as Patient/,
    instead: 'a Bundle whose entries have a request (HAPI `withBundle`)',
    calls: { 'HAPI FHIR': ['transaction of resources'] },
  },
  {
    what: 'XML',
    status: 406,
    says: /the server can send only application\/fhir\+json \(FHIR 4\.0\.1\)/,
    instead: 'JSON',
    calls: { 'HAPI FHIR': ['read of XML', 'search of XML'] },
  },
];

/** The table of edge/docs/libraries.md. */
export const refusalsTable = (): string =>
  [
    '| Rejected | Status | Instead |',
    '| --- | --- | --- |',
    ...REFUSALS.map(({ what, status, instead }) => `| ${what} | ${status} | ${instead} |`),
  ].join('\n');
