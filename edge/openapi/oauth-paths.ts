/** The token service in the OpenAPI document (edge/README.md, Token service). */
import { ASSERTION_ALGORITHM_NAMES } from '../../shared/oauth/algorithms.ts';
import { AUDIENCES } from '../../shared/oauth/audience.ts';
import { SCOPES } from '../../shared/oauth/scope.ts';
import { ASSERTION_TYPE } from '../oauth/assertion/credentials.ts';
import { type OperationObject, type Paths, ref, type ResponseObject, type Schema, text } from './model.ts';

const TAGS = ['Token service'];
const FORM = 'application/x-www-form-urlencoded';

const json = (description: string, schema: Schema): ResponseObject => ({
  description,
  content: { 'application/json': { schema } },
});

const REFUSALS = {
  '400': json('The request is refused; `error` says why (RFC 6749 §5.2).', ref('OauthError')),
  '401': json(
    'The client is not authenticated. The exact reason is shown to the administrator of its key.',
    ref('OauthError'),
  ),
  '429': json('Too many requests; see `Retry-After`.', ref('OauthError')),
  '503': json('A part of the gateway cannot be reached; see `Retry-After`.', ref('OauthError')),
};

const clientAuthentication = {
  client_assertion_type: { type: 'string', const: ASSERTION_TYPE },
  client_assertion: {
    type: 'string',
    description: `A JWT signed by ${ASSERTION_ALGORITHM_NAMES.join(', ')}: iss and sub the Client ID, aud this endpoint, jti new, exp at most five minutes ahead.`,
  },
} satisfies Record<string, Schema>;

const form = (properties: Readonly<Record<string, Schema>>, required: readonly string[]) => ({
  required: true,
  content: { [FORM]: { schema: { type: 'object', properties, required } } },
});

const document = (operationId: string, summary: string): OperationObject => ({
  tags: TAGS,
  summary,
  operationId,
  security: [],
  responses: { '200': json('The document.', { type: 'object' }) },
});

export const OAUTH_PATHS: Paths = {
  '/.well-known/smart-configuration': {
    get: document('smartConfiguration', 'SMART configuration: where everything is'),
  },
  '/.well-known/oauth-authorization-server': {
    get: document('authorizationServerMetadata', 'The same as authorization server metadata (RFC 8414)'),
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
            description: `Separated by spaces, of: ${SCOPES.join(' ')}`,
            examples: ['system/Patient.read'],
          },
          audience: { type: 'string', enum: AUDIENCES, description: 'Which surface the token is for.' },
          ...clientAuthentication,
        },
        ['grant_type', 'scope', 'client_assertion_type', 'client_assertion'],
      ),
      responses: {
        '200': json('The token.', {
          type: 'object',
          required: ['access_token', 'token_type', 'expires_in', 'scope'],
          properties: {
            access_token: { type: 'string', description: 'A JWT (RFC 9068).' },
            token_type: { type: 'string', const: 'Bearer' },
            expires_in: { type: 'integer', description: 'Seconds.' },
            scope: { type: 'string', description: 'What was granted, perhaps less than what was asked for.' },
          },
        }),
        ...REFUSALS,
      },
    },
  },
  '/oauth2/introspect': {
    post: {
      tags: TAGS,
      summary: 'Whether an access token of this client is active (RFC 7662)',
      operationId: 'introspect',
      security: [{}, { accessToken: [] }],
      requestBody: form({ token: text, ...clientAuthentication }, ['token']),
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
      requestBody: form({ token: text, ...clientAuthentication }, ['token']),
      responses: { '200': { description: 'It is revoked, or there was nothing to revoke.' }, ...REFUSALS },
    },
  },
};
