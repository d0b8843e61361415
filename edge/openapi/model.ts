/** The parts of an OpenAPI 3.1 document that are written here by hand; everything else comes from tables and schemas. */

export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string; readonly schema: Schema }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface OperationObject {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
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
