import { describe, expect, test } from 'vitest';

import { misspeltVariables, readCommandConfig, readConfig } from '../../edge/config.ts';
import { ConfigError } from '../../shared/environment.ts';
import { makeSecrets } from '../stack/services/secrets.ts';

describe('configuration', () => {
  test('every problem is listed at once, without its value', () => {
    const read = () =>
      readConfig({
        DATABASE_URL: 'mysql://secret',
        INTEGRATION_FHIR_PUBLIC_BASE_URL: 'not a url',
        GATEWAY_SECRET: 'short',
      });
    expect(read).toThrow(ConfigError);
    try {
      read();
    } catch (error) {
      const { problems } = error as ConfigError;
      expect(problems.join('\n')).toMatch(/DATABASE_URL must be/);
      expect(problems.join('\n')).toMatch(/INTEGRATION_FHIR_PUBLIC_BASE_URL must be a URL/);
      expect(problems.join('\n')).toMatch(/TOKEN_SIGNING_KEYS is missing/);
      expect(problems.join('\n')).toMatch(/GATEWAY_SECRET must be/);
      expect(problems.join('\n')).not.toMatch(/secret|short/);
    }
  });

  test('treats a missing or empty endpoint as not configured, and removes a trailing slash', async () => {
    const config = readConfig({
      ...(await makeSecrets()).env,
      DATABASE_URL: 'postgres://u:p@host/db',
      INTEGRATION_OAUTH_PUBLIC_BASE_URL: 'https://auth.example/x/',
      INTEGRATION_FHIR_PUBLIC_BASE_URL: ' ',
    });
    expect(config.INTEGRATION_OAUTH_PUBLIC_BASE_URL).toBe('https://auth.example/x');
    expect(config.INTEGRATION_FHIR_PUBLIC_BASE_URL).toBeUndefined();
  });

  test('a command needs the database and no secrets, and reports faults of the other variables that it uses', () => {
    const config = readCommandConfig({ DATABASE_URL: 'postgres://u:p@host/db', GATEWAY_SECRET: 'short' });
    expect(config).toEqual({ DATABASE_URL: 'postgres://u:p@host/db', TRUSTED_PROXIES: [], JWKS_TRUSTED_HOSTS: [] });
    const read = () => readCommandConfig({ ADMIN_PUBLIC_BASE_URL: 'x' });
    expect(read).toThrow(/DATABASE_URL is missing/);
    expect(read).toThrow(/ADMIN_PUBLIC_BASE_URL must be a URL/);
  });

  test.each([
    [{ FHIR_SERCH: 'us-core' }, ['FHIR_SERCH is not a setting: did you mean FHIR_SEARCH?']],
    [{ fhir_search: 'us-core' }, ['fhir_search is not a setting: did you mean FHIR_SEARCH?']],
    [{ GATEWAY_SECERT: 'x' }, ['GATEWAY_SECERT is not a setting: did you mean GATEWAY_SECRET?']],
    [{ DATABASE_URI: 'x' }, ['DATABASE_URI is not a setting: did you mean DATABASE_URL?']],
    [{ DATABASE_URI: 'x', DATABASE_URL: 'y' }, []],
    // Kubernetes sets these for services that are named so; others are short, or set by the machine.
    [{ FHIR_SERVICE_HOST: '10.0.0.1', GATEWAY_PORT: 'tcp://10.0.0.1', POST: '1', HOSTS: 'a', HOME: '/root' }, []],
    [{ FHIR_SEARCH: 'us-core', METRICS_TOKEN: '', MERTICS_TOKEN: '' }, []],
    // Changes are counted, not letters: two transpositions.
    [{ FIHR_SEACRH: 'us-core' }, ['FIHR_SEACRH is not a setting: did you mean FHIR_SEARCH?']],
    [{ FHIR_RESEARCHER: 'x' }, []],
  ])('misspelt variables: %j', (env, sentences) => {
    expect(misspeltVariables(env)).toEqual(sentences);
  });

  test('a wrong value is named with what it must be', () => {
    const wrong = { FHIR_SEARCH: 'all', MAX_HELD_BYTES: 'much', TOKEN_SIGNING_KEYS: '{}' };
    expect(() => readConfig(wrong)).toThrow(
      /TOKEN_SIGNING_KEYS keys is required\n[^]*FHIR_SEARCH must be one of listed, us-core\n[^]*MAX_HELD_BYTES must be a number/,
    );
  });

  test('a missing variable is listed with the misspelt one', () => {
    expect(() => readConfig({ GATEWAY_SECERT: 'secret' })).toThrow(
      /GATEWAY_SECRET is missing[^]*GATEWAY_SECERT is not a setting: did you mean GATEWAY_SECRET\?/,
    );
  });
});
