/** The parts of an OpenAPI 3.1 document that are written by hand. */

export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  /** For the samples. */
  readonly example?: string;
}

export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Ref {
  readonly $ref: string;
}

export type ResponseObject =
  | Ref
  | {
      readonly description: string;
      readonly headers?: Readonly<Record<string, Ref>>;
      readonly content?: Readonly<Record<string, MediaType>>;
    };

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

export interface RequestBody {
  readonly required: boolean;
  readonly content: Readonly<Record<string, MediaType>>;
}

export interface OperationObject {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly 'x-codeSamples'?: readonly CodeSample[];
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type PathItem = { readonly [M in Method]?: OperationObject };
/** Paths below the base URL of one surface. */
export type Paths = Readonly<Record<string, PathItem>>;

export const text: Schema = { type: 'string' };
export const uuid: Schema = { type: 'string', format: 'uuid' };
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

export const pathParameter = (name: string, description: string, schema: Schema = text): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
});

export const queryParameter = (name: string, description: string, schema: Schema = text): Parameter => ({
  name,
  in: 'query',
  description,
  schema,
});

export const headerParameter = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  description,
  schema: text,
});

/** Headers of answers. */
const HEADERS = {
  'Accept-Patch': 'The supported format of patches.',
  Allow: 'The methods that the address supports.',
  'Content-Location': 'The address of the export’s status.',
  ETag: 'The version, for `If-Match` and `If-None-Match`.',
  Expires: 'When the export is deleted.',
  'Last-Modified': 'When the version was written, to the second.',
  Location: 'The version that was written.',
  'Retry-After': 'Seconds to wait.',
  'WWW-Authenticate': 'The problem of the token (RFC 6750 §3).',
  'X-Progress': 'The progress of the export.',
  'X-Request-Id':
    'The id of this request: the id that the client sent, else a new id. Support finds the request by it.',
} as const;
export type HeaderName = keyof typeof HEADERS;

export const headersOf = (...names: readonly HeaderName[]): Readonly<Record<string, Ref>> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const requestBody = (mediaType: string, schema: Schema, example: unknown): RequestBody => ({
  required: true,
  content: { [mediaType]: { schema, example } },
});

/** An answer without a body. */
export const bodiless = (description: string, ...headers: readonly HeaderName[]): ResponseObject => ({
  description,
  headers: headersOf('X-Request-Id', ...headers),
});

export const answered = (
  description: string,
  mediaType: string,
  schema: Schema,
  ...headers: readonly HeaderName[]
): ResponseObject => ({ ...bodiless(description, ...headers), content: { [mediaType]: { schema } } });

/** For `components.headers`. */
export const HEADER_COMPONENTS = Object.fromEntries(
  Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: text }]),
);
