/** `npm run bench [name …]`: every measurement, or those named, each a table with its limits in the same run. */
import { readdir } from 'node:fs/promises';

import { helpOn } from '../../edge/platform/node/program.ts';

helpOn(
  'usage: npm run bench -- [NAME …]      names: gateway, latency, cost, postgres, bulk-export, hl7-reader, fhir-validate, mllp; default all',
);
const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith('.ts'));
const wanted = process.argv.slice(2);
for (const file of files.toSorted()) {
  const name = file.replace(/\.ts$/, '');
  if (name === 'run' || (wanted.length > 0 && !wanted.includes(name))) continue;
  const source = `./${file}`;
  const module = (await import(source)) as { bench?: () => Promise<object[]> };
  if (module.bench === undefined) continue;
  process.stdout.write(`\n${name}\n`);
  console.table(await module.bench());
}
