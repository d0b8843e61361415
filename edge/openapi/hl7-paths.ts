/** HL7 over HTTP in the OpenAPI document (edge/docs/behaviour.md, HL7 v2). */
import { exampleMessage } from '../examples/requests.ts';
import { MEDIA_TYPES } from '../hl7/http/reply.ts';
import { checkAnswer } from '../admin/workbench/operations.ts';
import { toSchema } from './admin-paths.ts';
import { ALWAYS, failuresOf, WITH_BODY, WITH_TOKEN } from './answers.ts';
import { answered, bodiless, type HeaderName, type Paths, type ResponseObject } from './model.ts';

const ACK = { schema: { type: 'string', description: 'An HL7 acknowledgement.' } };
/** The answer has the type of the request. */
const ack = (description: string, ...headers: readonly HeaderName[]): ResponseObject => ({
  ...bodiless(description, ...headers),
  content: Object.fromEntries(MEDIA_TYPES.map((type) => [type, ACK])),
});

const MESSAGE = {
  'text/plain': {
    schema: { type: 'string' },
    example: exampleMessage()
      .map((segment) => `${segment}\r`)
      .join(''),
  },
};

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
      requestBody: { required: true, content: MESSAGE },
      responses: {
        '200': ack('AA: stored.'),
        '204': bodiless('Stored; the message asks for no ACK.'),
        ...failuresOf('Hl7', [...WITH_TOKEN, ...WITH_BODY, 'throttled', 'unavailable', 'bug']),
        '400': ack('AR: no header that can be read; or a token sent in two ways.', 'WWW-Authenticate'),
        '422': ack('AE or AR: the ERR segments say what is wrong, and where.'),
      },
    },
  },
  '/hl7/check': {
    post: {
      tags: ['HL7 over HTTP'],
      summary: 'Check one HL7 v2 message without storing it',
      description:
        'Needs the token of `/hl7/messages`, or the secret of a link as a Bearer token. The answer has the verdict, the ACK, the parsed message with its faults, and the ' +
        'resources. The message is judged as in a site without patients, so the answer shows no stored data. Nothing is ' +
        'stored. A message may have `HL7_MAX_TEXT_BYTES`, its documents included.',
      operationId: 'checkMessage',
      security: [{ accessToken: [] }],
      parameters: [
        {
          name: 'ticketCopy',
          in: 'query',
          description: 'Adds a copy of the message without the patient, for a ticket.',
          schema: { type: 'boolean', default: false },
        },
      ],
      requestBody: { required: true, content: MESSAGE },
      responses: {
        '200': answered('The verdict; `outcome` can be AE or AR.', 'application/json', toSchema(checkAnswer, 'output')),
        ...failuresOf('Problem', [...ALWAYS, ...WITH_TOKEN, ...WITH_BODY, 'invalid']),
      },
    },
  },
};
