/** Connection strings as operators write them: what is understood, and what is refused instead of being left out. */
import { describe, expect, test } from 'vitest';

import { isNeon } from '../../../../edge/platform/neon.ts';
import { readConnectionString } from '../../../../edge/platform/postgres/connection-string.ts';
import { tlsOptions } from '../../../../edge/platform/postgres/tls.ts';
import { driverUrl } from '../../../../shared/postgres-url.ts';

const read = (path: string): string => `text of ${path}`;

describe('a supported connection string', () => {
  test('every part, escaped or not', () => {
    const url =
      'postgres://gate%40way:p%3Ass%2Fw%23rd@db.example.org:6432/clinic%20one?sslmode=verify-full&application_name=edge-2';
    expect(readConnectionString(url)).toMatchObject({
      host: 'db.example.org',
      port: 6432,
      user: 'gate@way',
      password: 'p:ss/w#rd',
      database: 'clinic one',
      sslmode: 'verify-full',
      applicationName: 'edge-2',
    });
  });

  test.each([
    ['postgresql://u:p@localhost/d', { host: 'localhost', port: 5432, sslmode: 'disable' }],
    ['postgres://u:p@127.0.0.1:5433', { host: '127.0.0.1', database: 'u', sslmode: 'disable' }],
    ['postgres://u:p@[::1]/d', { host: '::1', sslmode: 'disable' }],
    ['postgres://u:p@[2001:db8::5]/d?sslmode=require', { host: '2001:db8::5', sslmode: 'require' }],
    ['postgres://u:p@db/d?sslmode=disable', { host: 'db', sslmode: 'disable' }],
    ['postgres://u@db/d?sslmode=verify-ca&sslrootcert=/etc/ca.pem', { password: '', sslrootcert: '/etc/ca.pem' }],
  ])('%s', (url, expected) => {
    expect(readConnectionString(url)).toMatchObject(expected);
  });
});

test.each([
  [
    'another machine without a word on TLS',
    'postgres://u:p@db.internal/d',
    /sslmode=verify-full, verify-ca, require, disable/,
  ],
  ['a name that only looks like this machine', 'postgres://u:p@127.0.0.1.example.org/d', /sslmode/],
  ['a mode that allows clear text', 'postgres://u:p@db/d?sslmode=prefer', /sslmode/],
  ['an unknown mode', 'postgres://u:p@localhost/d?sslmode=verify_full', /sslmode/],
  [
    'a word that would be left out',
    'postgres://u:p@localhost/d?target_session_attrs=read-write',
    /target_session_attrs/,
  ],
  ['a mode twice', 'postgres://u:p@db/d?sslmode=verify-full&sslmode=disable', /more than once/],
  ['a certificate without its key', 'postgres://u:p@db/d?sslmode=verify-full&sslcert=/c.pem', /sslkey/],
  ['no user', 'postgres://db/d?sslmode=require', /must name a user/],
  ['no URL', 'postgres://u:p@db:port/d', /must be a URL/],
])('rejected, without a value: %s', (_, url, problem) => {
  const problems = readConnectionString(url);
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(JSON.stringify(problems)).not.toContain(':p@');
});

test.each<[string, string, object | false]>([
  ['disable', '', false],
  ['require', '', { rejectUnauthorized: false }],
  ['require', '&sslrootcert=/ca', { rejectUnauthorized: true, ca: 'text of /ca' }],
  ['verify-ca', '&sslrootcert=/ca', { rejectUnauthorized: true, ca: 'text of /ca' }],
  ['verify-full', '', { rejectUnauthorized: true }],
  ['verify-full', '&sslcert=/c&sslkey=/k', { rejectUnauthorized: true, cert: 'text of /c', key: 'text of /k' }],
])('%s%s asks of TLS what libpq asks', (sslmode, more, expected) => {
  const connection = readConnectionString(`postgres://u:p@db/d?sslmode=${sslmode}${more}`);
  if (!('host' in connection)) throw new TypeError(connection.join());
  const options = tlsOptions(connection, read);
  if (options === false || expected === false) return expect(options).toBe(expected);
  expect(options).toMatchObject(expected);
  // Only the last mode checks the name.
  expect(options.checkServerIdentity === undefined).toBe(sslmode === 'verify-full');
});

test('uses the Neon driver for Neon and for compatible endpoints', () => {
  const DATABASE_URL = 'postgres://u:p@db.example.org/d';
  expect(isNeon({ DATABASE_URL: 'postgres://u:p@ep-x-1.eu-central-1.aws.neon.tech/d?sslmode=require' })).toBe(true);
  expect(isNeon({ DATABASE_URL, DATABASE_FETCH_ENDPOINT: 'http://127.0.0.1:1/sql' })).toBe(true);
  expect(isNeon({ DATABASE_URL })).toBe(false);
  expect(isNeon({ DATABASE_URL: 'postgres://u:p@neon.tech.example.org/d' })).toBe(false);
});

test('a command verifies the certificate of Neon, and of others by sslmode', () => {
  const neon = 'postgres://u:p@ep-1.eu-central-1.aws.neon.tech/d';
  expect(driverUrl(`${neon}?sslmode=require&channel_binding=require`)).toBe(
    `${neon}?sslmode=verify-full&channel_binding=require`,
  );
  expect(driverUrl('postgres://u@db/d?sslmode=require')).toBe('postgres://u@db/d?sslmode=require&uselibpqcompat=true');
  for (const same of ['postgres://u@db/d', 'postgres://u@db/d?sslmode=verify-full', `${neon}?sslmode=disable`])
    expect(driverUrl(same)).toBe(same);
});
