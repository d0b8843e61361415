/** The CapabilityStatement (FHIR R4 http, 3.1.0.7), from the tables of the routes and of the search parameters. */
import type { JsonObject } from '../../shared/json.ts';
import { isStored, type ResourceType } from '../../shared/resource-type.ts';
import { typeOf } from '../store/search/kinds.ts';
import type { ProfileSet, SearchSet } from '../config.ts';
import { parametersOf, sortsOf } from '../store/search/parameters.ts';
import {
  DOCREF,
  interactionCodes,
  interactionsOf,
  SYSTEM_INTERACTIONS,
  UNSUPPORTED_METHODS,
} from './type-interactions.ts';
import { FHIR_JSON, JSON_PATCH } from './media-type.ts';
import { PROVENANCE_TARGET } from './provenance.ts';
import { includesOf, revincludesOf, type Supported } from './search/include.ts';
import { modifiersOf } from './search/named-parameter.ts';
import { BACKPORT, topicUrl } from './subscriptions/notification.ts';
import { profilesOf } from './validate/profiles/profile.ts';

/** The day of the last change to this file's statements (CapabilityStatement.date). */
const CHANGED = '2026-11-27';
const BULK_DATA = 'http://hl7.org/fhir/uv/bulkdata';
const BACKPORT_OPERATION = 'http://hl7.org/fhir/uv/subscriptions-backport/OperationDefinition';
const SMART_SERVICE = 'http://terminology.hl7.org/CodeSystem/restful-security-service';

/** Clients find the token endpoint in `.well-known/smart-configuration` (SMART App Launch 2.2, Conformance). */
const SECURITY: JsonObject = {
  cors: false,
  service: [{ coding: [{ system: SMART_SERVICE, code: 'SMART-on-FHIR' }], text: 'SMART Backend Services' }],
  description:
    'OAuth 2.0 client credentials with a signed JWT (private_key_jwt), scopes system/[type].read and ' +
    'system/[type].write, audience svc-fhir. All data belongs to the site of the access token.',
};

const DOCREF_ANSWER =
  'It finds stored documents, the newest first, of any of the given types; no document is generated. With start or end: those of ' +
  'care in that time. Without both: those with the status current. With on-demand=true: none. profile is not supported.';

function operationsOf(type: ResourceType, searches: SearchSet): JsonObject[] {
  const operations = new Set(interactionsOf(type, searches).flatMap(({ operation }) => operation ?? []));
  const named = [...operations].map((definition) => ({
    name: definition.split(/[/-]/).at(-1) ?? '',
    definition,
    ...(definition === DOCREF ? { documentation: DOCREF_ANSWER } : {}),
  }));
  if (type !== 'Patient' && type !== 'Group') return named;
  const definition = `${BULK_DATA}/OperationDefinition/${type.toLowerCase()}-export`;
  return [...named, { name: 'export', definition }];
}

/** The documentation of each set of search parameters. */
const SEARCHES: Readonly<Record<SearchSet, string>> = {
  listed: 'Searches use the parameters that are listed for each type, without modifiers.',
  'us-core':
    'Searches use the parameters of US Core, with the modifiers that are listed for each. ' +
    'Resources about a patient are found by patient.[parameter of Patient], patients by _has:[type]:patient:[parameter]. ' +
    'GET [type]/_search and GET Patient/[id]/[type] are searches too. ' +
    'Dates without a zone are in the time zone of the site.',
};

const modifiers = (names: readonly string[]): string =>
  names.length === 0 ? '' : ` Modifiers: ${names.map((name) => `:${name}`).join(', ')}.`;

/** Each version of a resource has one. */
const PROVENANCE: JsonObject = {
  type: 'Provenance',
  profile: 'http://hl7.org/fhir/StructureDefinition/Provenance',
  documentation:
    'It names the author of each version of a resource, and the message. The server makes it when it is read.',
  versioning: 'no-version',
  readHistory: false,
  updateCreate: false,
  conditionalCreate: false,
  conditionalRead: 'full-support',
  conditionalUpdate: false,
  conditionalDelete: 'not-supported',
  referencePolicy: ['literal'],
  searchParam: [
    {
      name: PROVENANCE_TARGET.name,
      definition: 'http://hl7.org/fhir/SearchParameter/Provenance-target',
      type: 'reference',
      documentation: PROVENANCE_TARGET.documentation,
    },
  ],
};

/** The settings of a deployment that its CapabilityStatement shows. */
export interface Capabilities extends Supported {
  readonly profiles: ProfileSet;
  /** FHIR_SUBSCRIPTIONS. */
  readonly hasSubscriptions: boolean;
}

function resource(type: ResourceType, supported: Capabilities): JsonObject {
  const { searches, profiles } = supported;
  const interaction = interactionCodes(type, searches).map((code) => ({ code }));
  if (type === 'Provenance') return { ...PROVENANCE, interaction };
  const includes = includesOf(supported, type);
  const revincludes = revincludesOf(supported, type);
  const checked = profiles === 'us-core' ? profilesOf(type) : [];
  return {
    type,
    profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
    ...(checked.length === 0 ? {} : { supportedProfile: checked }),
    documentation: `_sort: ${sortsOf(type, searches).join(', ')}. Ids are assigned by the server. Not supported: ${UNSUPPORTED_METHODS.join(', ')}.`,
    interaction,
    versioning: 'versioned-update',
    readHistory: true,
    updateCreate: false,
    conditionalCreate: true,
    conditionalRead: 'full-support',
    conditionalUpdate: true,
    conditionalDelete: 'not-supported',
    referencePolicy: ['literal', 'logical', 'local'],
    ...(includes.length === 0 ? {} : { searchInclude: includes }),
    ...(revincludes.length === 0 ? {} : { searchRevInclude: revincludes }),
    searchParam: Object.entries(parametersOf(searches, type)).map(([name, parameter]) => ({
      name,
      ...(parameter.definition === undefined ? {} : { definition: parameter.definition }),
      type: typeOf(parameter.kind),
      documentation: parameter.documentation + modifiers(modifiersOf(searches, name, parameter)),
    })),
    operation: operationsOf(type, searches),
  };
}

/** With FHIR_SUBSCRIPTIONS=on. The topics are an extension, since R4 has no SubscriptionTopic. */
const subscriptions = (root: string, types: readonly ResourceType[]): JsonObject => ({
  extension: types.filter(isStored).map((type) => ({
    url: `${BACKPORT}/capability-subscriptiontopic-canonical`,
    valueCanonical: topicUrl(root, type),
  })),
  type: 'Subscription',
  profile: `${BACKPORT}/backport-subscription`,
  documentation:
    'An API key with subscription hosts may create Subscriptions to the types that it may read, and sees its own only. A search has no parameters.',
  interaction: ['read', 'create', 'update', 'delete', 'search-type'].map((code) => ({ code })),
  versioning: 'no-version',
  readHistory: false,
  updateCreate: false,
  conditionalCreate: false,
  conditionalRead: 'not-supported',
  conditionalUpdate: false,
  conditionalDelete: 'not-supported',
  operation: ['status', 'events'].map((name) => ({
    name,
    definition: `${BACKPORT_OPERATION}/backport-subscription-${name}`,
  })),
});

/** @param root our own `{base}/fhir` */
export function capabilityStatement(root: string, capabilities: Capabilities): JsonObject {
  const { searches, types } = capabilities;
  return {
    resourceType: 'CapabilityStatement',
    url: `${root}/metadata`,
    name: 'IntegrationGateway',
    status: 'active',
    date: CHANGED,
    kind: 'instance',
    instantiates: [`${BULK_DATA}/CapabilityStatement/bulk-data`],
    software: { name: 'Integration gateway' },
    implementation: { description: 'FHIR R4 API of the integration gateway', url: root },
    fhirVersion: '4.0.1',
    format: [FHIR_JSON, 'json'],
    patchFormat: [JSON_PATCH],
    rest: [
      {
        mode: 'server',
        documentation: SEARCHES[searches],
        security: SECURITY,
        resource: [
          ...types.map((type) => resource(type, capabilities)),
          ...(capabilities.hasSubscriptions ? [subscriptions(root, types)] : []),
        ],
        interaction: SYSTEM_INTERACTIONS.map((code) => ({ code })),
        operation: [{ name: 'export', definition: `${BULK_DATA}/OperationDefinition/export` }],
      },
    ],
  };
}
