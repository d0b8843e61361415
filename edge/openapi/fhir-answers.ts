/** Bodies and answers of the FHIR API in the OpenAPI document. */
import { FHIR_JSON } from '../fhir/media-type.ts';
import { ALWAYS, failuresOf, type Kind, WITH_TOKEN } from './answers.ts';
import { answered, type HeaderName, ref, type RequestBody, requestBody, type ResponseObject } from './model.ts';

export const answer = (description: string, schema: string, ...headers: readonly HeaderName[]): ResponseObject =>
  answered(description, FHIR_JSON, ref(schema), ...headers);

export const outcome = (description: string, ...headers: readonly HeaderName[]): ResponseObject =>
  answer(description, 'OperationOutcome', ...headers);

/** The failures of requests. Failures of one interaction only are in its row. */
export const refusals = (...more: readonly Kind[]) =>
  failuresOf('Fhir', [...ALWAYS, ...WITH_TOKEN, 'not-acceptable', ...more]);

export const OF_VERSION = ['ETag', 'Last-Modified'] as const;

export const bodyOf = (type: string, example: unknown): RequestBody => requestBody(FHIR_JSON, ref(type), example);

/** The parameters of an operation, which it can do without. */
export const parametersBody = (...parameter: readonly object[]): RequestBody => ({
  ...bodyOf('Parameters', { resourceType: 'Parameters', parameter }),
  required: false,
});
