/** `npm run doctor`: looks at a deployment that runs and says, thing by thing, what is well and what to do. It changes nothing. */
import process from 'node:process';
import { parseArgs } from 'node:util';

import { checkAddress } from './doctor/address.ts';
import { checkConsole } from './doctor/console.ts';
import { checkConnection } from './doctor/database.ts';
import type { Finding } from '../../admin/health/finding.ts';
import { runProgram, UsageError } from './program.ts';

const USAGE = `usage: npm run -s doctor -- BASE_URL [--console URL]

Looks at a live deployment and says what is well and what is not. BASE_URL is that of FHIR or of the token service, --console
ADMIN_PUBLIC_BASE_URL where it is another. It sees more with DATABASE_URL (of the gateway's login) and ADMIN_TOKEN (an access
token with site.endpoints.read) in the environment. Ends with 0 when nothing is
wrong; what only a person can judge (?) does not change that.
`;

const MARKS: Readonly<Record<Finding['state'], string>> = {
  good: 'ok  ',
  bad: 'BAD ',
  doubtful: '?   ',
  unknown: '-   ',
};

/** A base URL with a slash at its end, so that what is below it can be written behind it. */
function baseOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${text} is not an http or https address`);
  return new URL(`${url.origin}${url.pathname.replace(/\/+$/, '')}/`);
}

const shown = ({ state, subject, says, next }: Finding): string =>
  `${MARKS[state]} ${subject.padEnd(18)} ${says}${next === undefined ? '' : `\n${' '.repeat(24)}→ ${next}`}\n`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { console: { type: 'string' } }, allowPositionals: true });
  const [given, ...more] = positionals;
  if (given === undefined || more.length > 0) throw new UsageError('which deployment? Give one base URL');
  const base = baseOf(given);
  const { DATABASE_URL, ADMIN_TOKEN } = process.env;
  const findings = [
    ...(await checkAddress(base, Date.now)),
    ...(await checkConsole(values.console === undefined ? base : baseOf(values.console), ADMIN_TOKEN || undefined)),
    ...(await checkConnection(DATABASE_URL || undefined)),
  ];
  process.stdout.write(findings.map(shown).join(''));
  const count = (of: Finding['state']): number => findings.filter(({ state }) => state === of).length;
  const [wrong, doubts] = [count('bad'), count('doubtful')];
  const summary = wrong === 0 ? 'all is well of what was looked at' : `${wrong} to mend`;
  process.stderr.write(`${summary}${doubts === 0 ? '' : `; ${doubts} to look at`}\n`);
  if (wrong > 0) process.exitCode = 1;
}

await runProgram(USAGE, main);
