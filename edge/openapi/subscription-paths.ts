/** Subscriptions in the OpenAPI document, with FHIR_SUBSCRIPTIONS=on. */
import { FHIR_JSON } from '../fhir/media-type.ts';
import { WITH_BODY } from './answers.ts';
import { answer, bodyOf, OF_VERSION, parametersBody, refusals } from './fhir-answers.ts';
import {
  bodiless,
  headerParameter,
  type OperationObject,
  type Parameter,
  type PathItem,
  pathParameter,
  type Paths,
  queryParameter,
  uuid,
} from './model.ts';

const OPERATION = { tags: ['FHIR Subscription'], security: [{ accessToken: [] }] };

const ID = pathParameter('id', 'The Subscription.', uuid);

const FHIR_ROOT = 'https://fhir.example.org/fhir';
const BACKPORT = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';
const BODY = bodyOf('Subscription', {
  resourceType: 'Subscription',
  status: 'requested',
  reason: 'copy of laboratory results',
  criteria: `${FHIR_ROOT}/SubscriptionTopic/Observation-changed`,
  _criteria: {
    extension: [
      { url: `${BACKPORT}/backport-filter-criteria`, valueString: 'Observation?code=http://loinc.org|2951-2' },
    ],
  },
  channel: { type: 'rest-hook', endpoint: 'https://hooks.example.org/observations', payload: FHIR_JSON },
});

const EVENTS: readonly Parameter[] = [
  queryParameter('eventsSinceNumber', 'The first event. Default: 1.', { type: 'integer', minimum: 0 }),
  queryParameter('eventsUntilNumber', 'The last event.', { type: 'integer', minimum: 0 }),
  queryParameter(
    'eventsSinceTime',
    'Instead of `eventsSinceNumber`: each event whose resource changed at this instant or after it is in the answer or on a later page. ' +
      'A few earlier events may be too. It must not be before the Subscription begins, nor in the future.',
    { type: 'string', format: 'date-time' },
  ),
  queryParameter('content', 'Default: the payload of the Subscription.', {
    type: 'string',
    enum: ['id-only', 'full-resource'],
  }),
];

/** GET with parameters in the URL, POST with Parameters. */
const operation = (
  name: string,
  described: Pick<OperationObject, 'summary' | 'description'>,
  parameters: readonly Parameter[],
  example: readonly object[],
  answers: string,
): PathItem => ({
  get: {
    ...OPERATION,
    ...described,
    operationId: `${name}Subscription`,
    parameters: [ID, ...parameters],
    responses: { '200': answer(answers, 'Bundle'), ...refusals('not-found') },
  },
  post: {
    ...OPERATION,
    ...described,
    summary: `${described.summary}, by Parameters`,
    operationId: `${name}SubscriptionByPost`,
    parameters: [ID],
    requestBody: parametersBody(...example),
    responses: { '200': answer(answers, 'Bundle'), ...refusals('not-found', ...WITH_BODY) },
  },
});

export const SUBSCRIPTION_PATHS: Paths = {
  '/fhir/Subscription': {
    get: {
      ...OPERATION,
      summary: 'List the Subscriptions of the API key',
      operationId: 'searchSubscription',
      responses: { '200': answer('Its Subscriptions.', 'Bundle'), ...refusals() },
    },
    post: {
      ...OPERATION,
      summary: 'Create a Subscription',
      description:
        'Needs the `.read` of the topic’s type. The host of the endpoint must be one of the API key’s subscription hosts. The answer ' +
        'has the secret of the signatures, as that of an update has.',
      operationId: 'createSubscription',
      requestBody: BODY,
      responses: {
        '201': answer('It is created; see `Location`.', 'Subscription', 'Location', ...OF_VERSION),
        ...refusals('invalid', ...WITH_BODY),
      },
    },
  },
  '/fhir/Subscription/{id}': {
    get: {
      ...OPERATION,
      summary: 'Read a Subscription',
      operationId: 'readSubscription',
      parameters: [ID],
      responses: { '200': answer('The Subscription.', 'Subscription', ...OF_VERSION), ...refusals('not-found') },
    },
    put: {
      ...OPERATION,
      summary: 'Update a Subscription',
      description:
        'The topic and the filter cannot be changed. The status `off` pauses it. `requested` starts it again where it ended.',
      operationId: 'updateSubscription',
      parameters: [ID, headerParameter('If-Match', 'The version to overwrite, as in `ETag`.')],
      requestBody: BODY,
      responses: {
        '200': answer('It is updated.', 'Subscription', ...OF_VERSION),
        ...refusals('invalid', 'not-found', 'precondition-failed', ...WITH_BODY),
      },
    },
    delete: {
      ...OPERATION,
      summary: 'Delete a Subscription and its events',
      operationId: 'deleteSubscription',
      parameters: [ID],
      responses: {
        '200': bodiless('It is deleted.'),
        ...refusals('not-found'),
      },
    },
  },
  '/fhir/Subscription/{id}/$status': operation(
    'status',
    { summary: 'Read the status of a Subscription, and the number of its events' },
    [],
    [],
    'A Bundle with one Parameters.',
  ),
  '/fhir/Subscription/{id}/$events': operation(
    'events',
    {
      summary: 'Read the events of a Subscription again',
      description:
        'At most 100. The link `self` has the number of the first event, and `next` is the address of the events that follow.',
    },
    EVENTS,
    [{ name: 'eventsSinceNumber', valueString: '1' }],
    'A notification with these events.',
  ),
};
