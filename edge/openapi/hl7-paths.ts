/** HL7 over HTTP in the OpenAPI document (edge/README.md, HL7 v2). */
import type { Paths, ResponseObject } from './model.ts';

const EXAMPLE =
  'MSH|^~\\&|ADT|EAST|GW|GW|20260101120000+0000||ADT^A04^ADT_A01|1|P|2.5.1\r' +
  'EVN|A04|20260101120000+0000\rPID|1||12345^^^EAST^MR||Doe^Jane||19700101|F\r';

const ack = (description: string): ResponseObject => ({
  description,
  content: { 'text/plain': { schema: { type: 'string', description: 'An HL7 acknowledgement.' } } },
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
        content: { 'text/plain': { schema: { type: 'string' }, example: EXAMPLE } },
      },
      responses: {
        '200': ack('AA: stored.'),
        '400': ack('No header that can be read.'),
        '401': ack('No token, or one that is not valid for this surface.'),
        '403': ack('The token lacks a scope.'),
        '413': ack('The message is too large.'),
        '415': ack('The Content-Type is not one for HL7.'),
        '422': ack('AE or AR: the ERR segments say what is wrong, and where.'),
        '503': { description: 'The database cannot be reached: send it again.' },
      },
    },
  },
};
