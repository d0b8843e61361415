/** The samples of an operation, from what the operation itself says of its address, parameters and body. */
import { csharp, curl, type ExampleRequest, java, javascript, python } from '../examples/request.ts';
import { FHIR_JSON } from '../fhir/media-type.ts';
import { SAMPLE_ID } from './fhir-examples.ts';
import type { CodeSample, MediaType, Method, OperationObject, Parameter, PathItem, Paths } from './model.ts';

const FORM = 'application/x-www-form-urlencoded';

const samplesOf = (request: ExampleRequest): readonly CodeSample[] => [
  { lang: 'Shell', label: 'curl', source: curl(request) },
  { lang: 'Python', label: 'Python', source: python(request) },
  { lang: 'JavaScript', label: 'JavaScript', source: javascript(request) },
  { lang: 'Java', label: 'Java', source: java(request) },
  { lang: 'C#', label: 'C#', source: csharp(request) },
];

/** The value of a path's parameter in a sample. */
function pathValue({ name, schema }: Parameter): string {
  if (name === 'id') return SAMPLE_ID;
  return schema['type'] === 'integer' ? '1' : `{${name}}`;
}

/** The example of a body; a form without an example is not sent. */
function bodyOf(mediaType: string, { example }: MediaType): ExampleRequest['body'] {
  if (typeof example === 'string') return example;
  if (typeof example !== 'object' || example === null) return undefined;
  return mediaType === FORM ? { form: { ...example } } : { json: example };
}

/** The media type of the first successful answer that the operation describes. */
function accepted({ responses }: OperationObject): string {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const content = answer !== undefined && 'content' in answer ? answer.content : undefined;
  return Object.keys(content ?? {})[0] ?? FHIR_JSON;
}

function sampled(method: Method, path: string, server: string, operation: OperationObject): OperationObject {
  const { parameters = [], requestBody, security = [] } = operation;
  const ofPath = parameters.filter((parameter) => parameter.in === 'path');
  const url = ofPath.reduce((text, one) => text.replace(`{${one.name}}`, pathValue(one)), `${server}${path}`);
  const query = parameters.flatMap(({ in: where, name, example }) =>
    where === 'query' && example !== undefined ? [[name, example]] : [],
  );
  const [[mediaType, content] = []] = Object.entries(requestBody?.content ?? {});
  const needed = parameters.flatMap((one): [string, string][] =>
    one.in === 'header' && one.required === true ? [[one.name, one.example ?? '*']] : [],
  );
  const body = content === undefined ? undefined : bodyOf(mediaType ?? '', content);
  const isTyped = body !== undefined && mediaType !== undefined && mediaType !== FORM;
  return {
    ...operation,
    'x-codeSamples': samplesOf({
      method: method.toUpperCase(),
      url: query.length === 0 ? url : `${url}?${new URLSearchParams(query).toString()}`,
      headers: {
        ...(path.startsWith('/fhir') ? { Accept: accepted(operation) } : {}),
        ...(isTyped ? { 'Content-Type': mediaType } : {}),
        ...Object.fromEntries(needed),
      },
      // An alternative without a token: the client's assertion.
      needsToken: security.length > 0 && security.every((one) => Object.keys(one).length > 0),
      ...(body === undefined ? {} : { body }),
    }),
  };
}

const METHODS: readonly Method[] = ['get', 'post', 'put', 'patch', 'delete'];

/** @param server the base URL of the surface */
export function withSamples(paths: Paths, server: string): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]): [string, PathItem] => [
      path,
      Object.fromEntries(
        METHODS.flatMap((method) => {
          const operation = item[method];
          return operation === undefined ? [] : [[method, sampled(method, path, server, operation)]];
        }),
      ),
    ]),
  );
}
