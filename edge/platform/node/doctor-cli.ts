/** `npm run doctor`: checks a running deployment item by item and recommends what to do. It changes nothing. */
import process from 'node:process';

import { checkAddress } from './doctor/address.ts';
import { checkConsole } from './doctor/console.ts';
import { checkConnection } from './doctor/database.ts';
import { checkSiteFile } from './doctor/site-file.ts';
import { type Finding, unknown } from '../../admin/health/finding.ts';
import { baseUrlOf, parseOptions, runProgram, UsageError } from './program.ts';

const USAGE = `usage: npm run -s doctor -- BASE_URL [--console URL] [--site-file FILE]

Checks a running deployment and reports its problems. BASE_URL is the base URL of FHIR or of the token service, --console is
ADMIN_PUBLIC_BASE_URL if it differs. With DATABASE_URL (the gateway's login) and ADMIN_TOKEN (an access token with
site.endpoints.read) in the environment it checks more. With --site-file it also compares a site with its file, for which
ADMIN_TOKEN needs site.settings.read, site.api_keys.read and site.rules.read. Exits with 0 if it found no problem; items
marked ? need a person's judgement and do not count.
`;

const MARKS: Readonly<Record<Finding['state'], string>> = {
  good: 'ok  ',
  bad: 'BAD ',
  doubtful: '?   ',
  unknown: '-   ',
};

const shown = ({ state, subject, says, next }: Finding): string =>
  `${MARKS[state]} ${subject.padEnd(18)} ${says}${next === undefined ? '' : `\n${' '.repeat(24)}→ ${next}`}\n`;

async function main(): Promise<void> {
  const { values, positionals } = parseOptions({
    options: { console: { type: 'string' }, 'site-file': { type: 'string' } },
    allowPositionals: true,
  });
  const [given, ...more] = positionals;
  if (given === undefined || more.length > 0) throw new UsageError('name one base URL of the deployment');
  const base = baseUrlOf(given);
  const { DATABASE_URL, ADMIN_TOKEN } = process.env;
  // In the order of causes: without a database the gateway is not ready, and without the gateway there is no console.
  const findings = [...(await checkConnection(DATABASE_URL || undefined)), ...(await checkAddress(base, Date.now))];
  const ofConsole = values.console === undefined ? base : baseUrlOf(values.console);
  if (findings.some(({ state, subject }) => subject === 'ready' && state === 'bad'))
    findings.push(unknown('console', 'the gateway must be ready'));
  else findings.push(...(await checkConsole(ofConsole, ADMIN_TOKEN || undefined)));
  const file = values['site-file'];
  if (file !== undefined) findings.push(...(await checkSiteFile(ofConsole, ADMIN_TOKEN, file)));
  process.stdout.write(findings.map(shown).join(''));
  const count = (of: Finding['state']): number => findings.filter(({ state }) => state === of).length;
  const [wrong, doubts] = [count('bad'), count('doubtful')];
  const summary = wrong === 0 ? 'all checked items are OK' : `${wrong} ${wrong === 1 ? 'problem' : 'problems'}`;
  process.stderr.write(`${summary}${doubts === 0 ? '' : `; ${doubts} to check`}\n`);
  if (wrong > 0) process.exitCode = 1;
}

await runProgram(USAGE, main);
