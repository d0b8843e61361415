/**
 * Judges the mutants by HAPI's validator, and writes `verdicts.json`. It needs a JDK, and the jars of `pom.xml`:
 *
 *     mvn -f test/unit/fhir/validate/hapi dependency:copy-dependencies -DoutputDirectory="$JARS"
 *     node test/unit/fhir/validate/hapi/judge.ts "$JARS"
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { usCoreMutants } from '../../../../inputs/us-core-mutants.ts';
import { hapiDefinitions } from './definitions.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const [jars] = process.argv.slice(2);
if (jars === undefined) throw new Error('give the folder of the jars');
const work = mkdtempSync(join(tmpdir(), 'judge-'));
try {
  const write = (name: string, values: readonly object[]): string => {
    const path = join(work, name);
    writeFileSync(path, values.map((value) => JSON.stringify(value)).join('\n'));
    return path;
  };
  const mutants = usCoreMutants();
  const definitions = write('definitions.ndjson', hapiDefinitions());
  const resources = write(
    'mutants.ndjson',
    mutants.map(({ resource }) => resource),
  );
  const classes = `${jars}/*:${work}`;
  execFileSync('javac', ['-cp', classes, '-d', work, join(FOLDER, 'Judge.java')]);
  const output = execFileSync('java', ['-cp', classes, 'Judge', definitions, resources], {
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const errors = output.split('\n');
  const verdicts = Object.fromEntries(mutants.map(({ label }, n) => [label, errors[n] === '']));
  writeFileSync(join(FOLDER, 'verdicts.json'), `${JSON.stringify(verdicts, null, 0).replaceAll(',"', ',\n"')}\n`);
} finally {
  rmSync(work, { recursive: true });
}
