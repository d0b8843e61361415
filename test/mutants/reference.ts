/** Seeded defects of the API reference: who may call the surfaces from a browser, and where a private key may go. */
import type { Mutant } from './mutant.ts';

const CORS = ['test/contract/reference-cors.test.ts'];
const BROWSER = ['test/e2e/reference.test.ts'];

export const REFERENCE: readonly Mutant[] = [
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
    find: "c.header('Vary', 'Origin', { append: true });",
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
