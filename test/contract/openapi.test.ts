/** The OpenAPI document against the gateway that serves it: what it says is there is there, and nothing dangles. */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';

import { beforeAll, describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A chapter of the documentation is a file. */
const CHAPTERS = readdirSync(new URL('../../edge/docs', import.meta.url)).flatMap(
  (file) => /^(.+)\.md$/.exec(file)?.[1] ?? [],
);

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

describe.each(ONE_RUNTIME)('the API reference on %s', (runtime) => {
  let partner: Document;
  let administration: Document;
  let operations: { path: string; method: string; operation: Operation; server: string }[];

  const at = useConsole(runtime, { prefix: '/gateway', env: { FHIR_SUBSCRIPTIONS: 'on' } });
  beforeAll(async () => {
    const documentAt = async (path: string): Promise<Document> => {
      const response = await fetch(`${at.baseUrl}${path}`);
      expect(response.headers.get('content-type')).toContain('application/vnd.oai.openapi+json');
      return (await response.json()) as Document;
    };
    partner = await documentAt('/docs/openapi.json');
    administration = await documentAt('/docs/admin/openapi.json');
    operations = [partner, administration].flatMap((document) =>
      Object.entries(document.paths).flatMap(([path, item]) =>
        METHODS.filter((method) => method in item).map((method) => {
          const [server] = item['servers'] as { url: string }[];
          return { path, method, operation: item[method] as Operation, server: server?.url ?? '' };
        }),
      ),
    );
  });

  test('is OpenAPI 3.1 whose references resolve, whose ids are unique and whose parameters are declared', () => {
    for (const document of [partner, administration]) {
      expect(document.openapi).toMatch(/^3\.1\./);
      const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([\w/.-]+)"/g)];
      expect(references.length).toBeGreaterThan(50);
      for (const [, name = ''] of references) expect(document).toHaveProperty(name.split('/'));
    }
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(
        declared.map(({ name }) => name),
        path,
      ).toEqual(named);
      expect(Object.keys(operation.responses).length, path).toBeGreaterThan(0);
    }
    expect(operations.length).toBeGreaterThan(75);
  });

  test('calls of integrators and calls of staff are two documents, each complete', () => {
    const isOfStaff = (path: string) => path.startsWith('/admin/');
    expect(Object.keys(partner.paths).filter(isOfStaff)).toEqual([]);
    expect(Object.keys(administration.paths).filter((path) => !isOfStaff(path))).toEqual([]);
    expect(JSON.stringify(partner)).not.toContain('staffToken');
    expect(JSON.stringify(administration)).not.toContain('accessToken');
  });

  test('has Subscriptions while they are on', () => {
    const ofSubscriptions = Object.keys(partner.paths).filter((path) => path.startsWith('/fhir/Subscription'));
    const one = '/fhir/Subscription/{id}';
    expect(ofSubscriptions).toEqual(['/fhir/Subscription', one, `${one}/$status`, `${one}/$events`]);
  });

  test('names no path and no method that the gateway does not have', async () => {
    const wrong: string[] = [];
    for (const { path, method, server } of operations) {
      const target = `${server}${path.replaceAll('{version}', '1').replaceAll(/\{\w+\}/g, randomUUID())}`;
      const response = await fetch(target, { method: method.toUpperCase() });
      // Without a token: an existing path answers with its status or what it lacks. A missing path answers 404 or 405.
      if (![200, 400, 401, 415].includes(response.status)) wrong.push(`${method} ${target}: ${response.status}`);
      await response.body?.cancel();
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ['/docs', 7],
    ['/docs/admin', 6],
    ['/docs/mllp', 3],
    ['/docs/try', 5],
    ['/docs/errors', 3],
    ['/docs/changes', 3],
    ...CHAPTERS.map((page): [string, number] => [`/docs/${page}`, 5]),
  ])('the page %s and its files come from here, with a strict policy', async (path, count) => {
    const page = await fetch(`${at.baseUrl}${path}`);
    const text = await page.text();
    expect(page.headers.get('content-security-policy')).toMatch(
      /default-src 'none'; script-src 'self'; style-src 'self'/,
    );
    const files = [...text.matchAll(/(?:src|href)="([^"]+\.(?:js|css|svg))"/g)].map(([, file]) => file ?? '');
    expect(files).toHaveLength(count);
    for (const file of files) {
      const response = await fetch(new URL(file, at.baseUrl));
      expect([file, response.status, response.headers.get('x-content-type-options')]).toEqual([file, 200, 'nosniff']);
      expect((await response.text()).length).toBeGreaterThan(0);
    }
    for (const bad of ['..%2fworker', 'nope.js', 'swagger-ui.html', 'console.css%00.js']) {
      expect((await fetch(`${at.baseUrl}/docs/assets/${bad}`)).status, bad).toBe(404);
    }
  });
});
