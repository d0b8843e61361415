/** `/admin/api` in the OpenAPI document, made from the operations of its routes. */
import * as z from 'zod';

import { API_PATH, type Operation } from '../admin/api/operation.ts';
import { ALWAYS, failuresOf, WITH_BODY, WITH_TOKEN } from './answers.ts';
import {
  answered,
  headerParameter,
  type OperationObject,
  type Parameter,
  pathParameter,
  type PathItem,
  type Paths,
  ref,
  type Schema,
} from './model.ts';

/** A schema of zod as JSON Schema. */
export function toSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

function queryParameters(schema: z.ZodType | undefined): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, described]) => {
    const { description, ...property }: Schema = typeof described === 'object' ? { ...described } : {};
    return { name, in: 'query', schema: property, ...(typeof description === 'string' ? { description } : {}) };
  });
}

function toOperation(operation: Operation): OperationObject {
  const { method, path, permission, summary, description, query, body, answer, status = 200, needsIfMatch } = operation;
  const mayBeStale = needsIfMatch === true || operation.needsFingerprint === true;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const [tag = ''] = path.slice(1).split('/');
  const parameters = [
    ...names.map((name) => pathParameter(name, name === 'clientId' ? 'The Client ID.' : 'The id.')),
    ...queryParameters(query),
    ...(needsIfMatch === true
      ? [{ ...headerParameter('If-Match', 'The ETag that was read, or *.'), required: true }]
      : []),
  ];
  const permissions = typeof permission === 'string' ? [permission] : permission;
  const needs = `Needs the permission ${permissions.map((each) => `\`${each}\``).join(' or ')}.`;
  return {
    tags: [`Administration: ${tag.replaceAll('-', ' ')}`],
    summary,
    description: description === undefined ? needs : `${description} ${needs}`,
    operationId: `${method}${path.replaceAll(/[/{}-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    security: [{ staffToken: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: toSchema(body, 'input') } } } }),
    responses: {
      [status]: answered('Done.', 'application/json', toSchema(answer, 'output'), 'ETag', 'Location'),
      ...failuresOf('Problem', [
        ...ALWAYS,
        ...WITH_TOKEN,
        'conflict',
        'invalid',
        ...(names.length === 0 && body === undefined ? [] : (['not-found'] as const)),
        ...(mayBeStale ? (['precondition-failed'] as const) : []),
        ...(body === undefined ? [] : WITH_BODY),
      ]),
      // RFC 6585 §3.
      ...(needsIfMatch === true
        ? { '428': answered('If-Match is missing.', 'application/problem+json', ref('Problem')) }
        : {}),
    },
  };
}

export function adminPaths(operations: readonly Operation[]): Paths {
  const paths: Record<string, PathItem> = {};
  for (const operation of operations) {
    const path = `${API_PATH}${operation.path}`;
    paths[path] = { ...paths[path], [operation.method]: toOperation(operation) };
  }
  return paths;
}
