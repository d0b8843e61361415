/** Compares an answer with the API reference and reports the differences. */
import { ANSWERS_HEADERS } from '../../../edge/http/reference-cors.ts';

/** As it is before it is watched: a process loads this once, and watch-answers.ts for each file. */
export const unwatchedFetch = globalThis.fetch;

interface Operation {
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly headers?: object }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>;
  readonly components: { readonly responses: Readonly<Record<string, { readonly headers?: object }>> };
}
interface Described {
  /** As the reference writes it: `/fhir/Patient/{id}`. */
  readonly template: string;
  readonly path: RegExp;
  readonly parameters: number;
  readonly item: Readonly<Record<string, Operation | undefined>>;
  readonly document: Document;
}

async function describedPaths(): Promise<Described[]> {
  const [{ administrationDocument, partnerDocument }, { adminOperations }, { testDeps }] = await Promise.all([
    import('../../../edge/openapi/document.ts'),
    import('../../../edge/admin/routes.ts'),
    import('./test-deps.ts'),
  ]);
  const env = {
    ADMIN_PUBLIC_BASE_URL: 'https://console.test',
    INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL: 'https://hl7.test',
    FHIR_SUBSCRIPTIONS: 'on',
  };
  const deps = testDeps({ env });
  const documents = [
    partnerDocument(deps.config),
    administrationDocument(deps.config, adminOperations(deps, {} as never)),
  ];
  return documents
    .flatMap((document) => {
      const known = document as unknown as Document;
      return Object.entries(known.paths).map(([path, item]) => ({
        template: path,
        path: new RegExp(`${path.replaceAll(/[.$]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/$]+')}$`),
        parameters: path.split('{').length,
        item,
        document: known,
      }));
    })
    .toSorted((a, b) => a.parameters - b.parameters);
}

let described: Promise<Described[]> | undefined;

/** @returns the parts of the answer that the reference lacks, if any */
export async function undescribed(method: string, url: string, response: Response): Promise<string | undefined> {
  described ??= describedPaths();
  const pathname = new URL(url).pathname.replaceAll('%24', '$').replace(/\/fhir\/$/, '/fhir');
  const found = (await described).find(({ path }) => path.test(pathname));
  const operation = found?.item[method.toLowerCase()];
  if (found === undefined || operation === undefined) return undefined;
  const where = `${method} ${pathname}: ${response.status}`;
  const named = operation.responses[response.status];
  if (named === undefined) return `${where} is not in the API reference`;
  const { headers = {} } =
    named.$ref === undefined ? named : (found.document.components.responses[named.$ref.split('/').at(-1) ?? ''] ?? {});
  const missing = ANSWERS_HEADERS.filter((name) => response.headers.has(name) && !(name in headers));
  return missing.length === 0 ? undefined : `${where} has ${missing.join(', ')}, which the API reference does not name`;
}

/**
 * @returns the operations of the API reference on a type, `GET /fhir/Patient/{id}`, exports aside, of which none of these requests is one
 */
export async function operationsWithout(
  type: string,
  requests: readonly { readonly method: string; readonly path: string }[],
): Promise<readonly string[]> {
  described ??= describedPaths();
  const all = await described;
  const operationOf = (method: string, path: string): string =>
    `${method} ${all.find((each) => each.path.test(`/fhir${path.replace(/\?.*$/, '')}`))?.template}`;
  const asked = new Set(requests.map(({ method, path }) => operationOf(method, path)));
  const onType = new RegExp(`/fhir/${type}(?:/(?!\\$export)|$)`);
  return all
    .filter(({ template }) => onType.test(template))
    .flatMap(({ template, item }) =>
      ['GET', 'POST', 'PUT', 'PATCH']
        .filter((method) => item[method.toLowerCase()] !== undefined)
        .map((method) => `${method} ${template}`),
    )
    .filter((operation) => !asked.has(operation));
}
