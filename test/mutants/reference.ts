/** Seeded defects of the API reference: who may call the surfaces from a browser, and where a private key may go. */
import type { Mutant } from './mutant.ts';

const CORS = ['test/contract/reference-cors.test.ts'];
const BROWSER = ['test/e2e/reference.test.ts'];

const LINKS = ['test/e2e/console/workbench.test.ts'];

export const REFERENCE: readonly Mutant[] = [
  {
    name: 'workbench: a link has the text where servers see it',
    file: 'edge/admin/web/assets/workbench.js',
    find: "const MARK = '#w1.';",
    replace: "const MARK = '?w1.';",
    tests: LINKS,
    only: 'a link fills',
  },
  {
    name: 'workbench: a link of an assertion is a credential',
    file: 'edge/admin/web/assets/workbench.js',
    find: "bench === 'assertion' ? withoutSignature(text.value) : text.value",
    replace: 'text.value',
    tests: LINKS,
    only: 'a link fills',
  },
  {
    name: 'workbench: the provider’s page finds the text of a link in its address',
    file: 'edge/admin/staff/sign-in.ts',
    find: 'return c.redirect(`${url.href}#`);',
    replace: 'return c.redirect(url.href);',
    tests: LINKS,
    only: 'a link fills',
  },
  {
    name: 'docs: a status is told that no contract test meets, and one that it meets is not',
    file: 'edge/openapi/fhir-paths.ts',
    find: '    parameters: [ID, IF_MATCH, PREFER],\n    requestBody: patchBody(type),\n    responses: { ...patched(type), ...PATCH_REFUSALS },',
    replace:
      "    parameters: [ID, IF_MATCH, PREFER],\n    requestBody: patchBody(type),\n    responses: { ...patched(type), ...refusals('conflict') },",
    tests: ['test/contract/fhir.test.ts'],
    only: 'patch',
  },
  {
    name: 'docs: a schema leaves out what the validator accepts',
    file: 'edge/openapi/fhir-schemas.ts',
    find: 'codes.length === 0 ||',
    replace: '',
    tests: ['test/unit/openapi/schemas.test.ts'],
  },
  {
    name: 'cors: whoever begins like the reference may call',
    file: 'edge/http/reference-cors.ts',
    find: "if (c.req.header('origin') === origin) return allow(c, next);",
    replace:
      "if (c.req.header('origin')?.startsWith(origin)) return cors({ origin: c.req.header('origin') ?? '' })(c, next);",
    tests: CORS,
  },
  {
    name: 'cors: every page may call',
    file: 'edge/http/reference-cors.ts',
    find: "if (c.req.header('origin') === origin) return allow(c, next);",
    replace: 'return cors()(c, next);',
    tests: CORS,
  },
  {
    name: 'cors: the reference of the console’s host may call, whatever INTEGRATION_DOCS_URL says',
    file: 'edge/http/reference-address.ts',
    find: 'const url = config.INTEGRATION_DOCS_URL ?? ownBaseUrl(config);',
    replace: 'const url = ownBaseUrl(config);',
    tests: CORS,
  },
  {
    name: 'cors: what one origin was answered is cached for another',
    file: 'edge/http/reference-cors.ts',
    find: "changeHeaders(c, (headers) => headers.append('Vary', 'Origin'));",
    replace: '',
    tests: CORS,
  },
  {
    name: 'docs: the page of integrators may call the console',
    file: 'edge/openapi/pages/try-out.tsx',
    find: '    config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL,\n',
    replace: '    config.INTEGRATION_HL7_HTTP_PUBLIC_BASE_URL,\n    config.ADMIN_PUBLIC_BASE_URL,\n',
    tests: CORS,
  },
  {
    name: 'docs: the private key is sent with the assertion',
    file: 'edge/admin/web/assets/reference-token.js',
    find: '      client_assertion_type: assertionType,\n',
    replace: '      client_assertion_type: assertionType,\n      key: pasted,\n',
    tests: BROWSER,
    only: 'a token is made',
  },
  {
    name: 'docs: the private key stays in the field',
    file: 'edge/admin/web/assets/reference-token.js',
    find: "  field('key').value = '';\n",
    replace: '',
    tests: BROWSER,
    only: 'a token is made',
  },
  {
    name: 'docs: forgetting leaves the token',
    file: 'edge/admin/web/assets/reference-token.js',
    find: '  globalThis.ui?.authActions.logout([SCHEME]);\n',
    replace: '',
    tests: BROWSER,
    only: 'a refusal is shown',
  },
];
