/** The token service in the OpenAPI document (edge/docs/behaviour.md, Token service). */
import { ASSERTION_ALGORITHM_NAMES } from '../../shared/oauth/algorithms.ts';
import { AUDIENCES } from '../../shared/oauth/audience.ts';
import { scopesOf } from '../../shared/oauth/scope.ts';
import type { ResourceType } from '../../shared/resource-type.ts';
import { ASSERTION_TYPE } from '../oauth/assertion/credentials.ts';
import { ownRefusals } from '../oauth/own-refusals.ts';
import { toSchema } from './admin-paths.ts';
import { ALWAYS, failuresOf, WITH_BODY } from './answers.ts';
import {
  answered,
  bodiless,
  type OperationObject,
  type Paths,
  requestBody,
  type ResponseObject,
  type Schema,
  text,
} from './model.ts';
import { publicDocument } from './public-document.ts';

const TAGS = ['Token service'];
const FORM = 'application/x-www-form-urlencoded';

const json = (description: string, schema: Schema): ResponseObject => answered(description, 'application/json', schema);

const REFUSALS = failuresOf('Oauth', [...ALWAYS, 'unauthenticated', ...WITH_BODY]);

const clientAuthentication = {
  client_assertion_type: { type: 'string', const: ASSERTION_TYPE },
  client_assertion: {
    type: 'string',
    description: `A JWT signed by ${ASSERTION_ALGORITHM_NAMES.join(', ')}: iss and sub the Client ID, aud this endpoint, jti new, exp at most five minutes ahead.`,
  },
} satisfies Record<string, Schema>;

/** @param own the caller's values in the samples; the other parameters have one value */
const form = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
  own: Readonly<Record<string, string>>,
) => {
  const fixed = Object.entries(properties).flatMap(([name, { const: value }]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const example = { ...Object.fromEntries(fixed), ...own, client_assertion: '$CLIENT_ASSERTION' };
  return requestBody(FORM, { type: 'object', properties, required }, example);
};

const document = (operationId: string, summary: string): OperationObject => ({
  tags: TAGS,
  ...publicDocument(operationId, summary),
});

const OWN_REFUSALS = {
  tags: TAGS,
  summary: 'The rejected and failed requests of this client, and its go-live check list',
  description:
    'Lists only requests that the private key or an access token of the client authenticated, without MLLP. ' +
    'With the secret of a link as a Bearer token it lists all. A request appears after some seconds.',
} as const;
const OWN_REFUSALS_ANSWER = json('The reasons, the newest first.', toSchema(ownRefusals, 'output'));

/** @param types the types of the deployment */
export const oauthPaths = (types: readonly ResourceType[]): Paths => ({
  '/.well-known/smart-configuration': {
    get: document('smartConfiguration', 'SMART configuration'),
  },
  '/.well-known/oauth-authorization-server': {
    get: document('authorizationServerMetadata', 'Authorization server metadata (RFC 8414)'),
  },
  '/oauth2/jwks': { get: document('signingKeys', 'The public keys that verify access tokens') },
  '/oauth2/token': {
    post: {
      tags: TAGS,
      summary: 'Get an access token with a signed client assertion',
      description: 'OAuth 2.0 client credentials with `private_key_jwt` (RFC 7523). Each assertion is accepted once.',
      operationId: 'token',
      security: [],
      requestBody: form(
        {
          grant_type: { type: 'string', const: 'client_credentials' },
          scope: {
            type: 'string',
            description: `Separated by spaces, of: ${scopesOf(types).join(' ')}`,
            examples: ['system/Patient.read'],
          },
          audience: { type: 'string', enum: AUDIENCES, description: 'The surface of the token.' },
          ...clientAuthentication,
        },
        ['grant_type', 'scope', 'client_assertion_type', 'client_assertion'],
        { scope: 'system/Patient.read', audience: 'svc-fhir' },
      ),
      responses: {
        '200': json('The token.', {
          type: 'object',
          required: ['access_token', 'token_type', 'expires_in', 'scope'],
          properties: {
            access_token: { type: 'string', description: 'A JWT (RFC 9068).' },
            token_type: { type: 'string', const: 'Bearer' },
            expires_in: { type: 'integer', description: 'Seconds.' },
            scope: { type: 'string', description: 'The granted scopes, possibly fewer than requested.' },
          },
          examples: [{ access_token: 'eyJ…', token_type: 'Bearer', expires_in: 300, scope: 'system/Patient.read' }],
        }),
        ...REFUSALS,
      },
    },
  },
  '/oauth2/introspect': {
    post: {
      tags: TAGS,
      summary: 'Introspect an access token of this client (RFC 7662)',
      operationId: 'introspect',
      security: [{}, { accessToken: [] }],
      requestBody: form({ token: text, ...clientAuthentication }, ['token'], { token: '$ACCESS_TOKEN' }),
      responses: {
        '200': json('`active`, and the claims of an active token.', {
          type: 'object',
          required: ['active'],
          properties: { active: { type: 'boolean' } },
        }),
        ...REFUSALS,
      },
    },
  },
  '/oauth2/revoke': {
    post: {
      tags: TAGS,
      summary: 'Revoke an access token of this client (RFC 7009)',
      operationId: 'revoke',
      security: [{}, { accessToken: [] }],
      requestBody: form({ token: text, ...clientAuthentication }, ['token'], { token: '$ACCESS_TOKEN' }),
      responses: {
        '200': bodiless('The token is revoked, or was not active.'),
        ...REFUSALS,
      },
    },
  },
  '/oauth2/refusals': {
    get: {
      ...OWN_REFUSALS,
      operationId: 'ownRefusals',
      security: [{ accessToken: [] }],
      responses: { '200': OWN_REFUSALS_ANSWER, ...failuresOf('Oauth', [...ALWAYS, 'unauthenticated']) },
    },
    post: {
      ...OWN_REFUSALS,
      summary: 'The same for a client without an access token',
      operationId: 'ownRefusalsByAssertion',
      security: [{}, { accessToken: [] }],
      requestBody: form(clientAuthentication, [], {}),
      responses: { '200': OWN_REFUSALS_ANSWER, ...REFUSALS },
    },
  },
});
