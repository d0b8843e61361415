/** The linter keeps the rooms apart: for each rule about imports one file that breaks it, and what is allowed beside it. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { beforeAll, expect, test } from 'vitest';

import { useFolder } from '../stack/tools/use-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A file, what it imports, and whether the linter takes it. */
const IMPORTS: readonly (readonly [file: string, specifier: string, isAllowed: boolean])[] = [
  ['shared/hl7/a.ts', '../../edge/deps.ts', false],
  ['shared/hl7/b.ts', 'node:fs', false],
  ['shared/hl7/c.ts', '../json.ts', true],
  ['sidecar/a.ts', '../edge/deps.ts', false],
  ['sidecar/b.ts', 'node:net', true],
  ['sidecar/c.ts', '../shared/json.ts', true],
  ['migrations/a.ts', '../edge/deps.ts', false],
  ['migrations/b.ts', 'node:fs', true],
  ['edge/a.ts', 'node:fs', false],
  ['edge/b.ts', './platform/neon.ts', false],
  ['edge/c.ts', './fhir/routes.ts', true],
  ['edge/config.ts', './store/sql.ts', false],
  ['edge/deps.ts', './admin/routes.ts', false],
  ['edge/anew/a.ts', '../platform/neon.ts', false],
  ['edge/anew/b.ts', '../store/sql.ts', true],
  ['edge/platform/a.ts', 'node:dns', true],
  ['edge/platform/b.ts', '../../sidecar/config.ts', false],
  ...['store', 'http', 'oauth', 'fhir', 'hl7', 'admin', 'openapi'].flatMap(
    (room) =>
      [
        [`edge/${room}/deep/a.ts`, 'node:fs', false],
        [`edge/${room}/b.ts`, '../platform/neon.ts', false],
        [`edge/${room}/c.ts`, '../app.ts', false],
        [`edge/${room}/d.ts`, '../../test/stack/ports.ts', false],
        [`edge/${room}/e.ts`, '../../shared/json.ts', true],
        [`edge/${room}/f.ts`, '../deps.ts', true],
      ] as const,
  ),
  ...['store', 'http', 'oauth', 'fhir', 'hl7', 'admin'].map(
    (room) => [`edge/${room}/g.ts`, '../openapi/model.ts', false] as const,
  ),
  ['edge/store/h.ts', '../http/body.ts', false],
  ['edge/members/a.ts', '../admin/routes.ts', false],
  ['edge/members/b.ts', '../store/sql.ts', false],
  ['edge/admin/deep/o.ts', '../../members/member.ts', true],
  ['edge/store/i.ts', '../fhir/outcome.ts', false],
  ['edge/http/h.ts', '../store/usage.ts', true],
  ['edge/http/i.ts', '../oauth/bearer.ts', false],
  ['edge/oauth/h.ts', '../fhir/outcome.ts', false],
  ['edge/oauth/i.ts', '../../shared/hl7/ack.ts', true],
  ['edge/fhir/deep/h.ts', '../../oauth/bearer.ts', true],
  ['edge/fhir/deep/i.ts', '../../oauth/keyring.ts', false],
  ['edge/fhir/j.ts', '../hl7/ingest.ts', false],
  ['edge/hl7/h.ts', '../oauth/bearer.ts', true],
  ['edge/hl7/i.ts', '../oauth/keyring.ts', false],
  ['edge/hl7/j.ts', '../admin/routes.ts', false],
  ['edge/admin/h.ts', '../hl7/ingest.ts', false],
  ['edge/admin/i.ts', '../fhir/outcome.ts', false],
  ['edge/admin/j.ts', '../oauth/bearer.ts', false],
  ['edge/admin/n.ts', '../jobs/kind.ts', false],
  ['edge/admin/k.ts', '../../shared/hl7/ack.ts', true],
  ['edge/admin/deep/l.ts', '../../alerts/facts.ts', false],
  ['edge/admin/deep/m.ts', '../alerts/kinds.ts', true],
  ['edge/openapi/h.ts', '../oauth/form.ts', true],
  ['test/contract/a.ts', '../../edge/config.ts', false],
  ['test/contract/deep/b.ts', '../../../shared/json.ts', false],
  ['test/contract/c.ts', '../unit/a.ts', false],
  ['test/contract/deep/d.ts', '../../stack/tools/gateway.ts', true],
  ['test/contract/deep/e.ts', '../oauth/subject.ts', true],
  ['test/stack/tools/a.ts', '../../contract/a.ts', false],
  ['test/stack/tools/b.ts', '../../../edge/config.ts', true],
  ['test/unit/fhir/a.ts', '../../contract/a.ts', false],
  ['test/unit/fhir/b.ts', '../../bench/rounds.ts', true],
];

const EXPRESSIONS: readonly (readonly [what: string, expression: string, refused: string | undefined])[] = [
  ['two repetitions inside each other', '/^(?:a+)+$/', 'exponential'],
  ['two repetitions of the same characters', String.raw`/^\s*\s*$/`, 'quadratic'],
  ['a run that is searched again from each of its characters', String.raw`/\d+$/`, 'quadratic'],
  ['a repetition that contains what is before it', '/BEGIN [A-Z ]*KEY/', 'quadratic'],
  ['a repetition that contains what is before it, behind no letter', '/(?<![a-z])BEGIN [A-Z ]*KEY/', 'quadratic'],
  ['a repetition that contains it as a part', '/b(?:ab)*c/', 'quadratic'],
  ['an expression that is built', 'new RegExp(`^${1 + 1}$`)', 'built'],
  ['an expression that reads each character once', '/^[a-z]+(?:-[a-z]+)*$/', undefined],
  ['a repetition that what is before it ends', String.raw`/"data":"[^"]*"/`, undefined],
  ['a repetition after a start of the text', '/^BEGIN [A-Z ]*KEY/', undefined],
  ['a repetition that cannot fail', '/BEGIN [A-Z ]*/', undefined],
];

const EXPONENTIAL = 'export default /^(?:a+)+$/;\n';
/** Each file at its path, with its text. */
const FILES: ReadonlyMap<string, string> = new Map([
  ...IMPORTS.map(([file, specifier]) => [file, `import '${specifier}';\n`] as const),
  ...EXPRESSIONS.map(
    ([, expression], at) => [`edge/http/expression-${at}.ts`, `export default ${expression};\n`] as const,
  ),
  ['test/unit/exponential.ts', EXPONENTIAL],
  ['script.ts', EXPONENTIAL],
  ['test/unit/quadratic.ts', String.raw`export default /\d+$/;` + '\n'],
  ['shared/circle/a.ts', "import type { B } from './b.ts';\nexport type A = B | 1;\n"],
  ['shared/circle/b.ts', "import type { A } from './a.ts';\nexport type B = A | 2;\n"],
]);

let reports: readonly { readonly code: string; readonly filename: string }[] = [];

/** The files that a rule refuses. */
const refusedBy = (rule: string): Set<string> =>
  new Set(reports.filter(({ code }) => code.includes(rule)).map(({ filename }) => filename));

const folder = await useFolder('lint');
beforeAll(async () => {
  const write = async (name: string, text: string | Buffer): Promise<void> => {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  };
  for (const [name, text] of FILES) await write(name, text);
  for (const name of ['oxlint.config.ts', 'test/lint/linear-expressions.ts', 'test/lint/repeated-start.ts'])
    await write(name, await readFile(join(ROOT, name)));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  reports = await lint();
});

/** One start of the linter, of a second, for all files. */
const lint = (): Promise<typeof reports> =>
  new Promise((resolve, reject) => {
    const oxlint = join(ROOT, 'node_modules/.bin/oxlint');
    execFile(oxlint, ['--format', 'json'], { cwd: folder, maxBuffer: 1e8 }, (error, stdout) => {
      if (stdout === '') return reject(error ?? new Error('the linter said nothing'));
      resolve((JSON.parse(stdout) as { diagnostics: typeof reports }).diagnostics);
    });
  });

test.each(EXPRESSIONS.map((each, at) => [...each, at] as const))('%s: %s is %s', (_, _expression, refused, at) => {
  expect(refusedBy('linear-expression').has(`edge/http/expression-${at}.ts`)).toBe(refused !== undefined);
});

test.each([
  ['script.ts', true],
  ['test/unit/exponential.ts', true],
  ['test/unit/quadratic.ts', false],
])('an expression outside the sources is rejected if it is exponential: %s is %s', (file, isRefused) => {
  expect(refusedBy('polynomial-expression').has(file)).toBe(isRefused);
});

test.each(IMPORTS)('%s may import %s: %s', (file, _, isAllowed) => {
  expect(refusedBy('no-restricted-imports').has(file)).toBe(!isAllowed);
});

test('a circle of types is a circle', () => {
  expect(refusedBy('no-cycle')).toEqual(new Set(['shared/circle/a.ts', 'shared/circle/b.ts']));
});
