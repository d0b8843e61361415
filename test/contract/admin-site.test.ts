/** The settings of a site and of a key, set over the JSON API: and that the next message is read by them. */
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { FORBIDDEN_HOSTS } from '../inputs/foreign-urls.ts';
import { useConsole } from '../stack/tools/console-site.ts';
import { getToken } from '../stack/services/client.ts';
import { PERMISSIONS } from '../stack/services/oidc-accounts.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Problem {
  readonly errors?: readonly { readonly field: string; readonly pointer: string; readonly detail: string }[];
}

interface Site {
  readonly version: number;
  readonly [member: string]: unknown;
}

interface Patient {
  readonly identifier: readonly { readonly system?: string; readonly assigner?: { readonly display: string } }[];
  readonly deceasedDateTime?: string;
  readonly name: readonly { readonly family: string }[];
}

describe.each(ONE_RUNTIME)('settings on %s', (runtime) => {
  const at = useConsole(runtime, {
    site: { name: 'North' },
    otherSite: { name: 'South', timeZone: 'Asia/Tokyo' },
    key: { protocols: ['fhir', 'hl7'] },
  });

  const call = (method: string, path: string, body?: unknown, ifMatch = '*', as = at.token) =>
    at.api(method, path, body, ifMatch === '' ? {} : { 'If-Match': ifMatch }, as);

  const set = async (path: string, body: object): Promise<Site> => {
    const response = await call('PATCH', path, body);
    expect(response.status, await response.clone().text()).toBe(200);
    return (await response.json()) as Site;
  };

  const read = async (): Promise<Site> => (await (await call('GET', '/site')).json()) as Site;

  /** Sends a message and gives the Patient that it made. @param rest of the PID, from PID-4 on */
  const patientOf = async (rest: string, bytes = (text: string) => Buffer.from(text), processing = 'P') => {
    const mrn = randomUUID();
    const message =
      `MSH|^~\\&|ADT|EAST|GW|GW|20260701093000||ADT^A04^ADT_A01|${randomUUID().slice(0, 20)}|${processing}|2.5.1\r` +
      `EVN|A04|20260701093000\rPID|1||${mrn}^^^HOSP^MR||${rest}\r`;
    const answer = await at.send(bytes(message));
    if (answer.status !== 200) return answer.text();
    const reader = await getToken(at.gateway.oauthBaseUrl, at.key, { audience: 'svc-fhir' });
    const found = await fetch(`${at.gateway.fhirBaseUrl}/fhir/Patient?identifier=${mrn}`, {
      headers: { Authorization: `Bearer ${reader}` },
    });
    const { entry = [] } = (await found.json()) as { entry?: { resource: Patient }[] };
    expect(entry).toHaveLength(1);
    return entry[0]?.resource;
  };

  /** PID-5, and a time without an offset in PID-29. */
  const DIED = `Doe^Jane${'|'.repeat(24)}202607010930`;

  test('are one file that is exported, planned and applied, with a row of the audit', async () => {
    const file = await at.json<{ settings: Readonly<Record<string, unknown>>; apiKeys: readonly object[] }>('/export');
    expect(file).toMatchObject({
      format: 1,
      site: at.site,
      settings: { usCore: false },
      apiKeys: [{ protocols: ['fhir', 'hl7'] }],
    });
    expect(JSON.stringify(file)).not.toMatch(/"d"|alertWebhook/);
    const none = await at.json<{ changes: object[]; fingerprint: string }>('/plan', { file });
    expect(none).toMatchObject({ changes: [], notInFile: { apiKeys: [] } });
    const changed = { format: 1, settings: { usCore: true } };
    const { fingerprint, changes } = await at.json<typeof none>('/plan', { file: changed });
    expect(fingerprint).toMatch(/^plan_[\w-]{43}$/);
    expect(changes).toMatchObject([{ kind: 'settings', permissions: ['site.settings.update'] }]);
    await at.json('/apply', { file: changed, fingerprint: none.fingerprint }, 412);
    await at.json('/apply', { file: changed }, 422);
    expect(await at.json('/apply', { file: changed, fingerprint })).toMatchObject({ clientIds: [] });
    const audited = await at.db.client.query<{ action: string }>(`select action from audit where 'Site' = any (types)`);
    expect(audited.rows).toEqual([{ action: 'settings-changed' }]);
    const back = { format: 1, settings: { usCore: false } };
    const again = await at.json<typeof none>('/plan', { file: back });
    await at.json('/apply', { file: back, fingerprint: again.fingerprint });
    await at.db.client.query('delete from site_change where site_id = $1 and version > 1', [at.site]);
    await at.db.client.query('update site set version = 1 where site_id = $1', [at.site]);
  });

  test('are read with their version, changed, and every change is kept', async () => {
    const response = await call('GET', '/site');
    expect([response.status, response.headers.get('etag')]).toEqual([200, '"1"']);
    expect(await response.json()).toEqual({
      site: at.site,
      name: 'North',
      timeZone: null,
      defaultCharset: null,
      processingIds: ['P'],
      assigningAuthorities: [],
      codeSystems: [],
      alertWebhook: null,
      alertErrorPercent: 25,
      identifyingTypes: [],
      placeholders: [],
      placeholderBirthDates: [],
      usCore: false,
      keepMessagesDays: 400,
      keepAttemptsDays: 90,
      keepUsageDays: 400,
      keepAuditDays: 2190,
      legalHold: false,
      version: 1,
      updatedAt: expect.any(String),
    });
    const changed = await call('PATCH', '/site', { defaultCharset: '8859/1', timeZone: 'Europe/Berlin' }, '"1"');
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect(await changed.json()).toMatchObject({ defaultCharset: 'iso-8859-1', timeZone: 'Europe/Berlin', version: 2 });
    expect(await set('/site', { timeZone: 'Europe/Berlin' })).toMatchObject({ version: 2 });
    expect(await set('/site', { defaultCharset: null, timeZone: '' })).toMatchObject({
      defaultCharset: null,
      version: 3,
    });
    const { items } = (await (await call('GET', '/site/changes')).json()) as { items: object[] };
    expect(items).toMatchObject([
      { version: 3, changed: ['timeZone', 'defaultCharset'] },
      {
        version: 2,
        by: 'script (script)',
        changed: ['timeZone', 'defaultCharset'],
        before: { timeZone: null, defaultCharset: null },
        after: { timeZone: 'Europe/Berlin', defaultCharset: 'iso-8859-1', name: 'North' },
      },
      { version: 1, before: null },
    ]);
  });

  test('are overwritten in no version that was not read', async () => {
    const { version } = await read();
    expect((await call('PATCH', '/site', { name: 'A' }, '')).status).toBe(428);
    const stale = await call('PATCH', '/site', { name: 'A' }, `"${version + 1}"`);
    expect([stale.status, stale.headers.get('content-type')]).toEqual([412, 'application/problem+json']);
    const names = Array.from({ length: 6 }, (_, at) => `Name ${at}`);
    const answers = await Promise.all(names.map((name) => call('PATCH', '/site', { name }, `"${version}"`)));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 412, 412, 412, 412, 412]);
  });

  test.each([
    ['timeZone', { timeZone: 'Mars/Olympus' }, '#/timeZone', /"Mars\/Olympus" is not a known IANA name/],
    ['defaultCharset', { defaultCharset: 'utf-7' }, '#/defaultCharset', /"utf-7" is not a supported character set/],
    ['processingIds', { processingIds: ['X'] }, '#/processingIds', /"X" is not a processing id/],
    ['processingIds', { processingIds: [] }, '#/processingIds', /at least one/],
    ['processingIds', { processingIds: null }, '#/processingIds', /must be a list/],
    ['name', { name: ' ' }, '#/name', /is required/],
    ['assigningAuthorities', { assigningAuthorities: { A: 'urn:x:y' } }, '#/assigningAuthorities', /must be a list/],
    [
      'assigningAuthorities',
      { assigningAuthorities: [{ namespace: ' ', system: 'urn:oid:1.2' }] },
      '#/assigningAuthorities/0/namespace',
      /no namespace/,
    ],
    [
      'assigningAuthorities',
      { assigningAuthorities: [{ namespace: 'HOSP', system: 'hospital' }] },
      '#/assigningAuthorities/0/system',
      /"HOSP" needs an absolute URI/,
    ],
    [
      'assigningAuthorities',
      {
        assigningAuthorities: [
          { namespace: 'HOSP', system: 'urn:oid:1.2' },
          { namespace: 'hosp', system: 'urn:oid:1.3' },
        ],
      },
      '#/assigningAuthorities/1/namespace',
      /"hosp" is given twice/,
    ],
    ['assigningAuthorities', { assigningAuthorities: 'HOSP' }, '#/assigningAuthorities/0/system', /"HOSP" needs/],
    ['codeSystems', { codeSystems: [{ name: '99LAB', system: 'lab' }] }, '#/codeSystems/0/system', /"99LAB" needs/],
    ['codeSystems', { codeSystems: [{ name: ' ', system: 'urn:x:y' }] }, '#/codeSystems/0/name', /no name before/],
    ['identifyingTypes', { identifyingTypes: ['NH', 'ss'] }, '#/identifyingTypes', /"ss" never identifies/],
    ['identifyingTypes', { identifyingTypes: 'PASSPORT' }, '#/identifyingTypes', /1 to 5 letters/],
    ['placeholders', { placeholders: ['X^^^HOSP'] }, '#/placeholders', /PID-3\.1 alone/],
    ['placeholderBirthDates', { placeholderBirthDates: '1901-02-29' }, '#/placeholderBirthDates', /is not a date/],
    ['usCore', { usCore: 'yes' }, '#/usCore', /must be true or false/],
    ['keepMessagesDays', { keepMessagesDays: 1 }, '#/keepMessagesDays', /must be at least 30/],
    ['keepAuditDays', { keepAuditDays: null }, '#/keepAuditDays', /must be a whole number from 365 to 36500/],
    ['legalHold', { legalHold: 'maybe' }, '#/legalHold', /must be true or false/],
    ['version', { version: 7 }, '#/version', /set by the gateway/],
    ['site', { site: randomUUID() }, '#/site', /set by the gateway/],
  ])('reject a bad %s: %j', async (field, body, pointer, detail) => {
    const before = await read();
    const response = await call('PATCH', '/site', body);
    expect([response.status, response.headers.get('content-type')]).toEqual([422, 'application/problem+json']);
    const { errors } = (await response.json()) as Problem;
    expect(errors).toMatchObject([{ field, pointer, detail: expect.stringMatching(detail) }]);
    expect(await read()).toEqual(before);
  });

  test.each([
    ['hl7TimeZone', 'Mars/Olympus'],
    ['hl7DefaultCharset', 'utf-7'],
    ['hl7ProcessingIds', ['P', 'X']],
    ['hl7DefaultAuthority', 'HOSP^1.2.3^ISO'],
    ['hl7DefaultAuthority', 7],
    ['hl7IdentityCheck', 'never'],
    ['patientMatch', 'yes'],
    ['subscriptionHosts', 'https://hooks.example.org'],
    ['subscriptionHosts', ['Hooks.example.org']],
    ['subscriptionHosts', ['*.example.org']],
    ['subscriptionHosts', ['hooks.example.org/path']],
    ['subscriptionHosts', ['hooks.example.org:443']],
    ['hl7Strict', 'yes'],
    ['hl7UnsupportedTypes', 'drop'],
    ['hl7AcceptAck', 1],
    ['hl7Information', 'silent'],
    ['silentAfterMinutes', 4],
    ['silentAfterMinutes', 'soon'],
    ['silentHours', '8-18'],
    ['silentHours', '08:00-08:00'],
    ['silentHours', '24:00-06:00'],
    ['silentDays', ['Mon']],
  ])('reject a bad %s of a key', async (field, value) => {
    const response = await call('PATCH', `/api-keys/${at.key.clientId}`, { [field]: value });
    expect(response.status).toBe(422);
    expect(((await response.json()) as Problem).errors).toMatchObject([{ field }]);
  });

  test('reject subscription hosts inside the network or of the gateway, each with its reason', async () => {
    const own = new URL(at.baseUrl).host;
    const hosts = [...FORBIDDEN_HOSTS, own];
    const path = `/api-keys/${at.key.clientId}`;
    const response = await call('PATCH', path, { subscriptionHosts: ['hooks.example.org', ...hosts] });
    expect(response.status).toBe(422);
    const { errors = [] } = (await response.json()) as Problem;
    expect(errors.map(({ field, detail }) => [field, detail.split(' ')[0]])).toEqual(
      hosts.map((host) => ['subscriptionHosts', host]),
    );
    // A stored host does not prevent another change.
    const store = `update api_key set subscription_hosts = '{10.0.0.1}' where client_id = $1`;
    await at.db.client.query(store, [at.key.clientId]);
    expect(await set(path, { notes: 'x', subscriptionHosts: ['10.0.0.1', 'hooks.example.org'] })).toMatchObject({
      subscriptionHosts: ['10.0.0.1', 'hooks.example.org'],
    });
    await set(path, { notes: null, subscriptionHosts: [] });
  });

  test('name the names and numbers of messages: kept as read, shown in the history, and deleted again', async () => {
    const given = {
      codeSystems: [{ name: '99LAB', system: 'https://lab.example/codes' }],
      identifyingTypes: 'NH, ni, NH',
      placeholders: ['NOMRN', '1234567'],
      placeholderBirthDates: '18991230, 1899-12-30, 1901-01-01',
      usCore: true,
    };
    const kept = {
      ...given,
      identifyingTypes: ['NH', 'NI'],
      placeholderBirthDates: ['1899-12-30', '1901-01-01'],
    };
    expect(await set('/site', given)).toMatchObject(kept);
    expect(await read()).toMatchObject(kept);
    const { items } = (await (await call('GET', '/site/changes?limit=1')).json()) as { items: object[] };
    expect(items).toMatchObject([{ changed: Object.keys(given), after: kept, before: { usCore: false } }]);
    const cleared = {
      codeSystems: [],
      identifyingTypes: '',
      placeholders: [],
      placeholderBirthDates: '',
      usCore: null,
    };
    expect(await set('/site', cleared)).toMatchObject({ identifyingTypes: [], codeSystems: [], usCore: false });
  });

  test('determine for a key what it may match and how its messages are processed; null sets the default of a new key', async () => {
    const path = `/api-keys/${at.key.clientId}`;
    const own = {
      patientMatch: true,
      subscriptionHosts: ['hooks.example.org', 'hooks.example.org:8443'],
      hl7DefaultAuthority: 'HOSP',
      hl7IdentityCheck: 'refuse',
      hl7Strict: true,
      hl7UnsupportedTypes: 'keep',
      hl7AcceptAck: true,
      hl7Information: false,
    };
    const usual = {
      patientMatch: false,
      subscriptionHosts: [],
      hl7DefaultAuthority: null,
      hl7IdentityCheck: 'refuse-results',
      hl7Strict: false,
      hl7UnsupportedTypes: 'refuse',
      hl7AcceptAck: false,
      hl7Information: true,
    };
    expect(await (await call('GET', path)).json()).toMatchObject(usual);
    expect(await set(path, own)).toMatchObject(own);
    const { items } = (await (await call('GET', `${path}/changes?limit=1`)).json()) as { items: object[] };
    expect(items).toMatchObject([{ changed: Object.keys(own), before: usual, after: own }]);
    const nothing = Object.fromEntries(Object.keys(own).map((name) => [name, null]));
    expect(await set(path, { ...nothing, subscriptionHosts: '' })).toMatchObject(usual);
  });

  test('for alerts: an address at a public host, or none; when a key is silent', async () => {
    for (const alertWebhook of ['http://hooks.example/x', 'https://10.0.0.1/x', 'https://hooks.internal/x', 'hooks']) {
      const refused = await call('PATCH', '/site', { alertWebhook });
      expect([refused.status, ((await refused.json()) as Problem).errors]).toMatchObject([
        422,
        [{ pointer: '#/alertWebhook' }],
      ]);
    }
    // Saving reports all faults at once: the gateway's host, this machine, and another fault beside them.
    for (const alertWebhook of [`${at.baseUrl.replace('http:', 'https:')}/hook`, 'https://localhost/x']) {
      const refused = await call('PATCH', '/site', { alertWebhook, timeZone: 'Mars/Olympus' });
      expect([refused.status, ((await refused.json()) as { errors: object[] }).errors]).toMatchObject([
        422,
        [
          { pointer: '#/timeZone' },
          { pointer: '#/alertWebhook', detail: expect.stringMatching(/^(?:it must not be|its host)/) },
        ],
      ]);
    }
    const given = { alertWebhook: 'https://hooks.example/x', alertErrorPercent: 40 };
    expect(await set('/site', given)).toMatchObject(given);
    const none = { alertWebhook: null, alertErrorPercent: null };
    expect(await set('/site', { alertWebhook: '', alertErrorPercent: '' })).toMatchObject(none);
    const path = `/api-keys/${at.key.clientId}`;
    const silence = { silentAfterMinutes: 45, silentHours: '07:00-18:30', silentDays: ['Mo', 'Fr'] };
    expect(await set(path, { ...silence, silentAfterMinutes: '45', silentHours: ' 07:00 – 18:30 ' })).toMatchObject(
      silence,
    );
    const never = { silentAfterMinutes: null, silentHours: null, silentDays: [] };
    expect(await set(path, { silentAfterMinutes: null, silentHours: '', silentDays: '' })).toMatchObject(never);
  });

  test('name the system of a bare namespace in the next message', async () => {
    await set('/site', { assigningAuthorities: [{ namespace: 'HOSP', system: 'urn:oid:1.2.3' }] });
    expect(await patientOf('Doe^Jane')).toMatchObject({ identifier: [{ system: 'urn:oid:1.2.3' }] });
    await set('/site', { assigningAuthorities: 'OTHER = urn:oid:9.9\nA=B = https://hospital.example/mrn?a=b' });
    expect(await read()).toMatchObject({
      assigningAuthorities: [
        { namespace: 'A=B', system: 'https://hospital.example/mrn?a=b' },
        { namespace: 'OTHER', system: 'urn:oid:9.9' },
      ],
    });
    const patient = await patientOf('Doe^Jane');
    expect(patient).toMatchObject({ identifier: [{ assigner: { display: 'HOSP' } }] });
    expect(JSON.stringify(patient)).not.toContain('urn:oid');
  });

  test('name the zone of a time without an offset: that of the key, and after deletion that of the site', async () => {
    const path = `/api-keys/${at.key.clientId}`;
    await set('/site', { timeZone: 'America/New_York' });
    expect(await patientOf(DIED)).toMatchObject({ deceasedDateTime: '2026-07-01T09:30:00-04:00' });
    expect(await set(path, { hl7TimeZone: 'Asia/Kolkata' })).toMatchObject({ hl7TimeZone: 'Asia/Kolkata' });
    expect(await patientOf(DIED)).toMatchObject({ deceasedDateTime: '2026-07-01T09:30:00+05:30' });
    expect(await set(path, { hl7TimeZone: null })).toMatchObject({ hl7TimeZone: null });
    expect(await patientOf(DIED)).toMatchObject({ deceasedDateTime: '2026-07-01T09:30:00-04:00' });
  });

  test('name the character set of a message without one: that of the key, and after deletion that of the site', async () => {
    const path = `/api-keys/${at.key.clientId}`;
    const latin1 = (text: string) => Buffer.from(text, 'latin1');
    await set('/site', { defaultCharset: 'iso-8859-1' });
    expect(await patientOf('Müller^Jürgen', latin1)).toMatchObject({ name: [{ family: 'Müller' }] });
    await set(path, { hl7DefaultCharset: 'utf-8' });
    expect(await patientOf('Müller^Jürgen', latin1)).toContain('MSA|A');
    expect(await patientOf('Müller^Jürgen')).toMatchObject({ name: [{ family: 'Müller' }] });
    await set(path, { hl7DefaultCharset: '' });
    expect(await patientOf('Müller^Jürgen', latin1)).toMatchObject({ name: [{ family: 'Müller' }] });
  });

  test('list the accepted processing ids: those of the key, and after deletion those of the site', async () => {
    const path = `/api-keys/${at.key.clientId}`;
    const training = () => patientOf('Doe^Jane', undefined, 'T');
    expect(await training()).toContain('MSA|AR');
    await set('/site', { processingIds: 'P,T' });
    expect(await training()).toMatchObject({ name: [{ family: 'Doe' }] });
    expect(await set(path, { hl7ProcessingIds: ['P'] })).toMatchObject({ hl7ProcessingIds: ['P'] });
    expect(await training()).toContain('MSA|AR');
    expect(await set(path, { hl7ProcessingIds: [] })).toMatchObject({ hl7ProcessingIds: null });
    expect(await training()).toMatchObject({ name: [{ family: 'Doe' }] });
  });

  test('are of the caller’s site: another site’s can be neither read nor changed', async () => {
    const mine = await read();
    const foreign = await at.oidc.signToken({ site: at.otherSite, permissions: PERMISSIONS });
    const asForeign = (method: string, body?: object) => call(method, '/site', body, '*', foreign);
    expect(await (await asForeign('GET')).json()).toMatchObject({
      site: at.otherSite,
      name: 'South',
      timeZone: 'Asia/Tokyo',
    });
    expect((await asForeign('PATCH', { name: 'Taken' })).status).toBe(200);
    expect((await asForeign('PATCH', { site: at.site, name: 'Taken' })).status).toBe(422);
    expect(await read()).toEqual(mine);
    const changes = await (await call('GET', '/site/changes', undefined, '', foreign)).text();
    expect(changes).toContain('Taken');
    expect(changes).not.toContain('North');
    const unknown = await at.oidc.signToken({ site: randomUUID(), permissions: PERMISSIONS });
    expect((await call('GET', '/site', undefined, '', unknown)).status).toBe(403);
    expect((await call('PATCH', '/site', { name: 'A' }, '*', unknown)).status).toBe(403);
  });

  test('can be seen, but not changed, by a reader', async () => {
    const reader = await at.oidc.signToken({ permissions: ['site.settings.read'] });
    expect((await call('GET', '/site', undefined, '', reader)).status).toBe(200);
    expect((await call('GET', '/site/changes', undefined, '', reader)).status).toBe(200);
    const before = await read();
    const refused = await call('PATCH', '/site', { name: 'A' }, '*', reader);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('site.settings.update');
    expect(await read()).toEqual(before);
  });
});
