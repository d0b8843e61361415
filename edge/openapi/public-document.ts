/** An operation that reads a public JSON document, with an ETag (edge/http/publish.ts). */
import { failuresOf } from './answers.ts';
import { headersOf, type OperationObject } from './model.ts';

export const publicDocument = (operationId: string, summary: string): Omit<OperationObject, 'tags'> => ({
  summary,
  operationId,
  security: [],
  responses: {
    '200': {
      description: 'The document.',
      headers: headersOf('X-Request-Id', 'ETag'),
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    '304': { description: 'The document has not changed.', headers: headersOf('X-Request-Id', 'ETag') },
    ...failuresOf('Oauth', ['unavailable', 'bug']),
  },
});
