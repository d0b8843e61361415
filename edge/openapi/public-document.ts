/** An operation that reads a public JSON document, with an ETag (edge/http/publish.ts). */
import { failuresOf } from './answers.ts';
import { answered, bodiless, type OperationObject } from './model.ts';

export const publicDocument = (operationId: string, summary: string): Omit<OperationObject, 'tags'> => ({
  summary,
  operationId,
  security: [],
  responses: {
    '200': answered('The document.', 'application/json', { type: 'object' }, 'ETag'),
    '304': bodiless('The document has not changed.', 'ETag'),
    ...failuresOf('Oauth', ['unavailable', 'bug']),
  },
});
