/** Regular expressions over what clients and staff send: the work grows with the text, not with its square. */
import { expect, test } from 'vitest';

import { isPem, readPem } from '../../edge/admin/keys/pem.ts';
import { holdsPrivateKey, redactKeys } from '../../edge/members/redact.ts';
import { uriTable } from '../../edge/admin/settings/uri-table.ts';
import { refusalReason } from '../../edge/fhir/refused-request.ts';
import { Fault } from '../../shared/fault.ts';
import { plainAddress } from '../../shared/ip.ts';
import { growthOf, LINEAR } from '../stack/tools/growth.ts';

const table = uriTable('namespace', 'a name');
const SIZE = 4_000;

test.each<[string, (size: number) => string, (text: string) => unknown]>([
  ['a label of PEM that begins many times', (size) => 'BEGIN '.repeat(size), holdsPrivateKey],
  ['a label of PEM without an end', (size) => `BEGIN ${'A '.repeat(size)}`, holdsPrivateKey],
  ['PRIVATE KEY and spaces', (size) => `PRIVATE KEY${' '.repeat(size)}`, holdsPrivateKey],
  ['members of a JWK without a value', (size) => '"d":'.repeat(size), holdsPrivateKey],
  ['quotes behind a member', (size) => `d:${'"'.repeat(size)}`, redactKeys],
  ['certificates that begin many times', (size) => 'BEGIN CERT '.repeat(size), redactKeys],
  ['a label that begins many times, as a key', (size) => 'BEGIN '.repeat(size), isPem],
  ['long dashes', (size) => '\u2013'.repeat(size), readPem],
  ['long dashes and spaces', (size) => '\u2013 '.repeat(size), readPem],
  ['spaces behind a label', (size) => `KEY${' '.repeat(size)}`, readPem],
  ['labels of one long block', (size) => '-----BEGIN A-----'.repeat(size), readPem],
  ['spaces in a line of a table of URIs', (size) => `a${' '.repeat(size)}b`, (text) => table.schema.safeParse(text)],
  ['URIs in a line of a table', (size) => `${'=a:'.repeat(size)} b`, (text) => table.schema.safeParse(text)],
  ['equals signs in a line of a table', (size) => `${'a = '.repeat(size)} b`, (text) => table.schema.safeParse(text)],
  [
    'the name of an element',
    (size) => '.ofType('.repeat(size),
    (at) => refusalReason(new Fault('malformed', 'm', { issues: [{ code: 'structure', message: 'm', at }] })),
  ],
  ['zones of an address', (size) => `${'%'.repeat(size)}\n`, plainAddress],
])('%s', (_, inputOf, work) => {
  expect(growthOf(inputOf, work, SIZE)).toBeLessThanOrEqual(LINEAR);
});
