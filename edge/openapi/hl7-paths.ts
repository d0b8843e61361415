/** HL7 over HTTP in the OpenAPI document (edge/docs/behaviour.md, HL7 v2). */
import { exampleMessage } from '../examples/requests.ts';
import { MEDIA_TYPES } from '../hl7/http/reply.ts';
import { failuresOf, WITH_BODY, WITH_TOKEN } from './answers.ts';
import { type HeaderName, headersOf, type Paths, type ResponseObject } from './model.ts';

const ACK = { schema: { type: 'string', description: 'An HL7 acknowledgement.' } };
/** The answer has the type of the request. */
const ack = (description: string, ...headers: readonly HeaderName[]): ResponseObject => ({
  description,
  headers: headersOf('X-Request-Id', ...headers),
  content: Object.fromEntries(MEDIA_TYPES.map((type) => [type, ACK])),
});

export const HL7_PATHS: Paths = {
  '/hl7/messages': {
    post: {
      tags: ['HL7 over HTTP'],
      summary: 'Send one HL7 v2 message',
      description:
        'Needs audience `svc-hl7-http` and the write scopes of Patient, Observation and DocumentReference. The same ' +
        'bytes sent again get the same answer and change nothing.',
      operationId: 'sendMessage',
      security: [{ accessToken: [] }],
      requestBody: {
        required: true,
        content: {
          'text/plain': {
            schema: { type: 'string' },
            example: exampleMessage()
              .map((segment) => `${segment}\r`)
              .join(''),
          },
        },
      },
      responses: {
        '200': ack('AA: stored.'),
        '204': { description: 'Stored; the message asks for no ACK.', headers: headersOf('X-Request-Id') },
        ...failuresOf('Hl7', [...WITH_TOKEN, ...WITH_BODY, 'throttled', 'unavailable', 'bug']),
        '400': ack('AR: no header that can be read; or a token sent in two ways.', 'WWW-Authenticate'),
        '422': ack('AE or AR: the ERR segments say what is wrong, and where.'),
      },
    },
  },
};
