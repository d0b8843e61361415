/**
 * The console's pages make, change and disable API keys, without a script. A refused form lists all errors
 * at once and never returns a private key. An action that stops a feed asks for the key's name.
 */
import { randomUUID } from 'node:crypto';

import { exportJWK, exportPKCS8, exportSPKI, generateKeyPair, type JWK } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { getToken } from '../stack/services/client.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { signIn } from '../stack/tools/console.ts';
import { until } from '../stack/services/until.ts';
import type { HttpBrowser } from '../stack/tools/http-browser.ts';
import { zoneAtNoon } from '../stack/tools/midday.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

type Fields = Readonly<Record<string, string | readonly string[]>>;

describe.each(ONE_RUNTIME)('the pages of API keys on %s', (runtime) => {
  let browser: HttpBrowser;

  // Tokens of today are counted.
  const at = useConsole(runtime, { site: { name: 'North', timeZone: zoneAtNoon() } });
  beforeAll(async () => {
    browser = await signIn(at);
  });

  interface Answer {
    readonly status: number;
    readonly text: string;
    readonly location: string;
  }
  const ask = async (path: string, fields?: Fields): Promise<Answer> => {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(fields ?? {}))
      for (const each of [value].flat()) form.append(name, each);
    const init =
      fields === undefined ? {} : { method: 'POST', body: form, headers: { origin: new URL(at.baseUrl).origin } };
    const answer = await browser.ask(`${at.baseUrl}${path}`, init);
    return { status: answer.status, text: await answer.text(), location: answer.headers.get('location') ?? '' };
  };
  const NEW = { name: 'Laboratory', tokenTtlSeconds: '300', protocols: 'fhir', allowedScopes: 'system/Patient.read' };
  const clientIdIn = ({ location }: Answer): string => /svc-[0-9a-f-]{36}/.exec(location)?.[0] ?? '';

  /** Every row of every table that has this text somewhere. */
  const rowsWith = async (text: string): Promise<string[]> => {
    const { rows: tables } = await at.db.client.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const { rowCount } = await at.db.client.query(`select 1 from "${name}" t where strpos(t::text, $1) > 0`, [text]);
      if (rowCount !== 0) found.push(name);
    }
    return found;
  };

  describe('a form that is rejected', () => {
    test('lists all errors at once, in the order of the form, and keeps the typed values', async () => {
      const pair = await generateKeyPair('ES256', { extractable: true });
      const jwk: JWK = { ...(await exportJWK(pair.privateKey)), kid: 'lab-1' };
      const { status, text } = await ask('/admin/keys', {
        ...NEW,
        name: '',
        tokenTtlSeconds: '30',
        jwks: JSON.stringify({ keys: [jwk] }),
        protocols: ['fhir', 'hl7-mllp'],
        hl7TimeZone: 'Mars',
        silentHours: 'whenever',
      });
      expect(status).toBe(422);
      expect(text).toContain('<title>Not saved: New API key');
      const summary = /<ul class="faults">[^]*?<\/ul>/.exec(text)?.[0] ?? '';
      const fields = [...summary.matchAll(/href="#(\w+)"/g)].map(([, field]) => field);
      expect(fields).toEqual(['name', 'jwks', 'tokenTtlSeconds', 'allowedIps', 'hl7TimeZone', 'silentHours']);
      for (const field of fields) expect(text).toContain(`id="${field}"`);
      // The focus is on the first alone.
      expect(text.match(/autofocus/g)).toHaveLength(1);
      expect(/<input [^>]*id="name"[^>]*>/.exec(text)?.[0]).toContain('autofocus');
      expect(text).toContain('value="Mars"');
      expect(text).toMatch(/value="system\/Patient.read" checked/);
      expect(text).toContain('lab-1');
    });

    test('names a number that was emptied, for a change too', async () => {
      const { clientId } = await createApiKey(at.db.client, { site: at.site });
      const key = await ask(`/admin/keys/${clientId}`, { ...NEW, jwks: '', tokenTtlSeconds: '', version: '1' });
      expect(key).toMatchObject({ status: 422, text: expect.stringContaining('is required: a whole number from 60') });
      const settings = await ask('/admin/settings', { name: 'North', keepMessagesDays: '', version: '1' });
      expect(settings).toMatchObject({
        status: 422,
        text: expect.stringContaining('must be a whole number from 30 to'),
      });
    });

    test.each<[string, (pair: CryptoKeyPair) => Promise<[text: string, secret: string]>]>([
      [
        'a private JWKS',
        async ({ privateKey }) => {
          const jwk = await exportJWK(privateKey);
          return [JSON.stringify({ keys: [jwk] }), jwk.d ?? ''];
        },
      ],
      [
        'a private JWKS with a comma too many',
        async ({ privateKey }) => {
          const jwk = await exportJWK(privateKey);
          return [`{"keys":[${JSON.stringify(jwk)},]}`, jwk.d ?? ''];
        },
      ],
      [
        'a private PEM',
        async ({ privateKey }) => {
          const pem = await exportPKCS8(privateKey);
          return [pem, pem.split('\n')[1] ?? ''];
        },
      ],
    ])('with %s returns none of it, and the gateway neither logs nor keeps it', async (_, make) => {
      const [jwks, secret] = await make(await generateKeyPair('ES384', { extractable: true }));
      expect(secret.length).toBeGreaterThan(40);
      const { clientId } = await createApiKey(at.db.client, { site: at.site });
      const answers = [
        await ask('/admin/keys', { ...NEW, jwks }),
        await ask('/admin/keys', { ...NEW, jwks, tokenTtlSeconds: '1' }),
        await ask(`/admin/keys/${clientId}`, { ...NEW, jwks, version: '1' }),
        await ask('/admin/keys', { ...NEW, name: jwks.slice(0, 190), jwks: '' }),
      ];
      const api = await fetch(`${at.baseUrl}/admin/api/api-keys`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${await at.oidc.adminToken()}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'A', tokenTtlSeconds: 300, jwks }),
      });
      expect([...answers.map(({ status }) => status), api.status]).toEqual([422, 422, 422, 422, 422]);
      for (const text of [...answers.map((answer) => answer.text), await api.text()]) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain(encodeURIComponent(secret));
      }
      expect(at.gateway.logs().join('\n')).not.toContain(secret);
      expect(await rowsWith(secret)).toEqual([]);
    });
  });

  test('a public key in PEM makes a key that gets a token; the API answers with it as a JWKS', async () => {
    const pair = await generateKeyPair('ES384', { extractable: true });
    const made = await ask('/admin/keys', { ...NEW, jwks: await exportSPKI(pair.publicKey) });
    expect(made.status, made.text).toBe(303);
    const clientId = clientIdIn(made);
    const privateJwk = { ...(await exportJWK(pair.privateKey)), alg: 'ES384' };
    await expect(getToken(at.gateway.oauthBaseUrl, { clientId, privateJwk })).resolves.toMatch(/^ey/);
    const answer = await fetch(`${at.baseUrl}/admin/api/api-keys/${clientId}`, {
      headers: { Authorization: `Bearer ${await at.oidc.adminToken()}` },
    });
    const { d: _, alg: __, ...publicMembers } = privateJwk;
    expect(await answer.json()).toMatchObject({ jwks: { keys: [{ ...publicMembers, use: 'sig' }] } });
  });

  describe('a new key', () => {
    /** The fields that a browser sends of the unchanged form. */
    const fieldsIn = (html: string): Record<string, string[]> => {
      const fields: Record<string, string[]> = {};
      const add = (name: string, value: string) => (fields[name] ??= []).push(value);
      const attribute = (tag: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
      const form = /<form class="record"[^]*?<\/form>/.exec(html)?.[0] ?? '';
      for (const [tag] of form.matchAll(/<input [^>]*>/g)) {
        if (attribute(tag, 'type') === 'checkbox' && !/\bchecked\b/.test(tag)) continue;
        add(attribute(tag, 'name') ?? '', attribute(tag, 'value') ?? '');
      }
      for (const [, tag = '', text = ''] of form.matchAll(/<textarea ([^>]*)>([^<]*)/g)) {
        add(attribute(tag, 'name') ?? '', text);
      }
      return fields;
    };
    const openFolds = (html: string): string[] =>
      [...html.matchAll(/<details class="fold" open[^>]*>\s*<summary>\s*<h2>([^<]*)/g)].map(([, title = '']) => title);
    const jwksOf = async (): Promise<string> => {
      const { publicKey } = await generateKeyPair('ES384', { extractable: true });
      return JSON.stringify({ keys: [await exportJWK(publicKey)] });
    };

    test.each<[string, readonly string[], Fields, object]>([
      ['reader', [], {}, { protocols: ['fhir'], allowed_audiences: [] }],
      ['writer', [], {}, { protocols: ['fhir'] }],
      ['lab-http', [], {}, { protocols: ['hl7'], allowed_audiences: ['svc-hl7-http'] }],
      ['lab-mllp', ['HL7 over MLLP only'], { allowedIps: '*' }, { protocols: ['hl7-mllp'], allowed_ips: ['*'] }],
    ])(
      'by the preset %s needs a name and a public key, and shows what its protocol needs',
      async (preset, open, more, kept) => {
        const { status, text } = await ask(`/admin/keys/new?preset=${preset}`);
        expect([status, openFolds(text)]).toEqual([200, open]);
        expect(text).toMatch(/aria-current="true"/);
        const made = await ask('/admin/keys', { ...fieldsIn(text), name: preset, jwks: await jwksOf(), ...more });
        expect(made.status, made.text).toBe(303);
        const { rows } = await at.db.client.query('select * from api_key where client_id = $1', [clientIdIn(made)]);
        expect(rows[0]).toMatchObject(kept);
        const scopes = (rows[0] as { allowed_scopes: string[] }).allowed_scopes;
        expect(scopes.some((scope) => scope.endsWith('.read'))).toBe(preset === 'reader' || preset === 'writer');
        expect(scopes.some((scope) => scope.endsWith('.write'))).toBe(preset !== 'reader');
      },
    );

    test('with an unknown preset is an empty form', async () => {
      for (const preset of ['', 'constructor', 'x']) {
        expect(fieldsIn((await ask(`/admin/keys/new?preset=${preset}`)).text)).toMatchObject({ protocols: ['fhir'] });
      }
    });

    test('as another is has all but its name and public keys, and is of this site only', async () => {
      const { clientId } = await createApiKey(at.db.client, {
        site: at.site,
        name: 'Ward',
        protocols: ['hl7'],
        allowedIps: ['192.0.2.7'],
      });
      const fields = fieldsIn((await ask(`/admin/keys/new?from=${clientId}`)).text);
      expect(fields).toMatchObject({ name: ['Copy of Ward'], jwks: [''], jwksUri: [''], protocols: ['hl7'] });
      expect(fields['allowedIps']).toEqual(['192.0.2.7']);
      const theirs = await createApiKey(at.db.client, { site: await createSite(at.db.client), name: 'Theirs' });
      expect((await ask(`/admin/keys/new?from=${theirs.clientId}`)).status).toBe(404);
    });
  });

  describe('the notes of a key', () => {
    const make = async () => {
      const pair = await generateKeyPair('ES384', { extractable: true });
      const made = await ask('/admin/keys', {
        ...NEW,
        protocols: ['fhir', 'hl7', 'hl7-mllp'],
        allowedIps: '192.0.2.9',
        hl7SenderApplication: 'LAB|1',
        contact: 'Eve, +49 30 1234',
        notes: 'slow\r\nwriter',
        jwks: await exportSPKI(pair.publicKey),
      });
      expect(made.status, made.text).toBe(303);
      return { clientId: clientIdIn(made), privateJwk: { ...(await exportJWK(pair.privateKey)), alg: 'ES384' } };
    };

    test('is shown, and in no token', async () => {
      const key = await make();
      const { text } = await ask(`/admin/keys/${key.clientId}`);
      expect(text).toContain('Eve, +49 30 1234');
      expect(text).toContain('slow\nwriter');
      const [, payload = ''] = (await getToken(at.gateway.oauthBaseUrl, key)).split('.');
      expect(Buffer.from(payload, 'base64url').toString()).not.toMatch(/Eve|slow|Laboratory/);
    });

    test('the contact is in the handover, a page and a file; the name and the notes are not', async () => {
      const { clientId } = await make();
      const page = await ask(`/admin/keys/${clientId}/handover`);
      const file = await ask(`/admin/keys/${clientId}/handover/markdown`);
      expect([page.status, file.status]).toEqual([200, 200]);
      const endpoint = `${at.gateway.oauthBaseUrl}/oauth2/token`;
      for (const text of [page.text, file.text]) {
        for (const shown of [clientId, endpoint, 'system/Patient.read', '192.0.2.9', 'Eve, +49 30 1234', 'North']) {
          expect(text).toContain(shown);
        }
        for (const kept of ['slow', 'Laboratory']) expect(text).not.toContain(kept);
      }
      // A character of a table is escaped in one.
      expect(file.text).toContain('LAB\\|1');
      const theirs = await createApiKey(at.db.client, { site: await createSite(at.db.client), name: 'Theirs' });
      for (const path of ['handover', 'handover/markdown']) {
        expect((await ask(`/admin/keys/${theirs.clientId}/${path}`)).status).toBe(404);
      }
    });
  });

  test('with which public key a client signs is shown, also without a kid in the assertion, and of no other site', async () => {
    const pairs = await Promise.all(
      ['old', 'new'].map(async (kid) => {
        const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
        return {
          open: { ...(await exportJWK(publicKey)), kid },
          closed: { ...(await exportJWK(privateKey)), alg: 'ES256' },
        };
      }),
    );
    const [old, fresh] = pairs;
    if (old === undefined || fresh === undefined) throw new Error('two pairs are needed');
    const made = await ask('/admin/keys', {
      ...NEW,
      name: 'Rotating',
      jwks: JSON.stringify({ keys: pairs.map(({ open }) => open) }),
    });
    const clientId = clientIdIn(made);
    // None of the assertions names a kid: the key that verifies is meant.
    await getToken(at.gateway.oauthBaseUrl, { clientId, privateJwk: old.closed });
    const usedOf = async () =>
      (
        await at.db.client.query<{ kid: string }>('select kid from key_kid where client_id = $1 order by kid', [
          clientId,
        ])
      ).rows;
    await until('the old one is noted', async () => (await usedOf()).length === 1);
    expect(await usedOf()).toEqual([{ kid: 'old' }]);
    await at.db.client.query(`update key_kid set last_at = last_at - interval '9 days' where client_id = $1`, [
      clientId,
    ]);
    await getToken(at.gateway.oauthBaseUrl, { clientId, privateJwk: fresh.closed });
    await until('the new one is noted', async () => (await usedOf()).length === 2);
    const { text } = await ask(`/admin/keys/${clientId}`);
    expect(text.match(/can be removed/g)).toHaveLength(1);
    expect(text).toMatch(/Today: 2 tokens/);
    expect(text).toContain('Token requests, Last 24 hours: 2 accepted, 0 rejected or failed');
    const list = await ask('/admin/keys?q=Rotating');
    expect(list.text).toMatch(/Tokens today"><div>2</);
  });

  test('the list is ordered by name and by use, page by page, each key once', async () => {
    const names = ['beta', 'Alpha', 'gamma \u00e9', 'Delta'].map((name) => `Ordered ${name}`);
    for (const name of names) await createApiKey(at.db.client, { site: at.site, name });
    const call = async (query: string) => {
      const answer = await fetch(`${at.baseUrl}/admin/api/api-keys?q=Ordered&limit=1&${query}`, {
        headers: { Authorization: `Bearer ${await at.oidc.adminToken()}` },
      });
      return {
        status: answer.status,
        body: (await answer.json()) as { items: { name: string }[]; next: string | null },
      };
    };
    for (const sort of ['name', 'used', 'created']) {
      const seen: string[] = [];
      let next: string | null = '';
      while (next !== null) {
        const { body } = await call(`sort=${sort}${next === '' ? '' : `&cursor=${next}`}`);
        seen.push(...body.items.map(({ name }) => name));
        next = body.next;
      }
      expect(seen.toSorted()).toEqual(names.toSorted());
      if (sort === 'name') expect(seen.map((name) => name.slice(8, 9))).toEqual(['A', 'b', 'D', 'g']);
    }
    expect((await call('sort=size')).status).toBe(400);
  });

  describe('disabling', () => {
    const statusOf = async (clientId: string): Promise<string> => {
      const { rows } = await at.db.client.query<{ status: string }>('select status from api_key where client_id = $1', [
        clientId,
      ]);
      return rows[0]?.status ?? '';
    };

    test('disabling asks for the name and shows the actor; enabling needs one button', async () => {
      const { clientId } = await createApiKey(at.db.client, { site: at.site, name: 'Lab  feed Zu\u0308rich' });
      const path = `/admin/keys/${clientId}`;
      const disable = (name?: string) =>
        ask(`${path}/status`, { version: '1', status: 'disabled', ...(name === undefined ? {} : { name }) });
      expect((await ask(path)).text).not.toContain('value="disabled"');
      expect((await ask(`${path}/status`)).text).toMatch(/Last used<\/dt><dd>never/);
      await at.db.client.query(
        `insert into key_usage (site_id, client_id, bucket, surface, application, facility, accepted, refused, rejected)
           values ($1, $2, now(), 'mllp', 'LAB', 'NORTH', 1200, 3, 1), ($1, $2, now() - interval '2 days', 'mllp', 'LAB', 'NORTH', 7, 0, 0)`,
        [at.site, clientId],
      );
      const form = await ask(`${path}/status`);
      expect(form.text).toMatch(/Today<\/dt><dd>1,204 messages<\/dd>/);
      expect(form.text).toContain('name="status" value="disabled"');
      for (const name of [undefined, '', 'Lab', 'Lab feed Zurich', `svc-${randomUUID()}`]) {
        const { status, text } = await disable(name);
        expect([status, await statusOf(clientId)]).toEqual([422, 'active']);
        expect(text).toContain('not the name of this key');
      }
      // The typed name matches with one space, an umlaut of one character, and any capitals.
      expect((await disable(' lab feed z\u00fcrich')).status).toBe(303);
      expect(await statusOf(clientId)).toBe('disabled');
      const shown = await ask(path);
      expect(shown.text).toMatch(/disabled[^]*by Alex Admin/);
      expect((await ask(`${path}/status`)).text).toContain('name="status" value="active"');
      expect((await ask(`${path}/status`, { version: '2', status: 'active' })).status).toBe(303);
      expect(await statusOf(clientId)).toBe('active');
    });

    test('accepts the Client ID for a name that cannot be typed, and rejects a key that another person has changed', async () => {
      const { clientId } = await createApiKey(at.db.client, { site: at.site, name: '\u{1f9ea}' });
      const path = `/admin/keys/${clientId}/status`;
      await at.db.client.query('update api_key set version = 5 where client_id = $1', [clientId]);
      const late = await ask(path, { version: '1', status: 'disabled', name: clientId });
      expect([late.status, await statusOf(clientId)]).toEqual([409, 'active']);
      expect(late.text).toContain('was changed in the meantime');
      expect(late.text).toContain('name="version" value="5"');
      expect((await ask(path, { version: '5', status: 'disabled', name: clientId })).status).toBe(303);
      expect(await statusOf(clientId)).toBe('disabled');
    });
  });

  describe('links', () => {
    const MESSAGE = 'MSH|^~\\&|A|B|C|D|20260101||ADT^A04^ADT_A01|1|P|2.5.1\rPID|1||4711^^^H^MR||Doe^Jane||19800230';
    const withLink = (secret: string) => ({ authorization: `Bearer ${secret}`, 'content-type': 'text/plain' });
    const check = (secret: string) =>
      fetch(`${at.gateway.hl7BaseUrl}/hl7/check`, { method: 'POST', headers: withLink(secret), body: MESSAGE });
    const refusals = (secret: string) =>
      fetch(`${at.gateway.oauthBaseUrl}/oauth2/refusals`, { headers: withLink(secret) });
    interface Link {
      readonly linkId: string;
      readonly secret: string;
      readonly expiresAt: string;
    }
    const newKey = () => createApiKey(at.db.client, { site: at.site, protocols: ['hl7'] });
    const newLink = (clientId: string, hours = 24) => at.json<Link>(`/api-keys/${clientId}/links`, { hours }, 201);

    test('a link checks messages and shows refusals of its key, failed signatures among them, and opens nothing else', async () => {
      const [key, neighbour] = [await newKey(), await newKey()];
      const { secret, expiresAt } = await newLink(key.clientId, 2);
      expect(Math.abs(Date.parse(expiresAt) - Date.now() - 7_200_000)).toBeLessThan(60_000);
      expect(await rowsWith(secret)).toEqual([]);

      const before = await rowsWith('4711');
      const checked = await check(secret);
      expect(checked.status).toBe(200);
      expect(await checked.json()).toMatchObject({
        outcome: 'AA',
        errors: [{ at: 'PID^1^7^1^1', reason: 'bad-time' }],
      });
      expect(await rowsWith('4711')).toEqual(before);

      for (const { clientId, privateJwk } of [
        { clientId: key.clientId, privateJwk: neighbour.privateJwk },
        { clientId: neighbour.clientId, privateJwk: key.privateJwk },
      ]) {
        await expect(getToken(at.gateway.oauthBaseUrl, { ...key, clientId, privateJwk }, {})).rejects.toThrow();
      }
      const listed = await until('the failed signature', async () => {
        const answer = await refusals(secret);
        expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
        const body = await answer.json();
        return body.refusals.length === 0 ? undefined : body;
      });
      expect(listed.refusals).toMatchObject([{ surface: 'token', outcome: 'refused' }]);
      expect(listed.checkList.steps.map(({ step }: { step: string }) => step)).toContain('message');
      expect(JSON.stringify(listed)).not.toContain(neighbour.clientId);

      const elsewhere = await Promise.all([
        fetch(`${at.gateway.hl7BaseUrl}/hl7/messages`, { method: 'POST', headers: withLink(secret), body: MESSAGE }),
        fetch(`${at.gateway.fhirBaseUrl}/fhir/Patient`, { headers: withLink(secret) }),
        fetch(`${at.gateway.oauthBaseUrl}/oauth2/introspect`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}` },
          body: new URLSearchParams({ token: secret }),
        }),
        at.api('GET', '/api-keys', undefined, {}, secret),
      ]);
      expect(elsewhere.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    });

    test('a link that is revoked, expired, changed or of a disabled key is rejected at once', async () => {
      const key = await newKey();
      const other = await newKey();
      const [one, two] = [await newLink(key.clientId), await newLink(key.clientId)];
      const statuses = async (secret: string) => [(await check(secret)).status, (await refusals(secret)).status];
      expect(await statuses(two.secret)).toEqual([200, 200]);
      const revoked = await at.json(`/api-keys/${key.clientId}/links/${one.linkId}/revoke`, {});
      expect(revoked).toMatchObject({ linkId: one.linkId, isLive: false, revokedBy: expect.any(String) });
      expect((await at.api('POST', `/api-keys/${key.clientId}/links/${one.linkId}/revoke`, {})).status).toBe(404);
      expect((await at.api('POST', `/api-keys/${other.clientId}/links/${two.linkId}/revoke`, {})).status).toBe(404);
      const bytes = Buffer.from(two.secret.slice('link_'.length), 'base64url');
      const changed = (offset: number, by: Buffer) => {
        const copy = Buffer.from(bytes);
        by.copy(copy, offset);
        return `link_${copy.toString('base64url')}`;
      };
      const idOf = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex');
      for (const secret of [
        one.secret,
        'link_',
        'link_AAAA',
        two.secret.slice(0, -4),
        changed(0, idOf(randomUUID())),
        changed(16, idOf(other.clientId.slice(4))),
        changed(32, idOf(one.linkId)),
        changed(48, Buffer.from([1, 2, 3])),
      ]) {
        expect(await statuses(secret)).toEqual([401, 401]);
      }
      await at.db.client.query(
        `update key_link set created_at = created_at - interval '2 days', expires_at = expires_at - interval '2 days' where link_id = $1`,
        [two.linkId],
      );
      expect(await statuses(two.secret)).toEqual([401, 401]);
      const three = await newLink(key.clientId);
      await at.db.client.query(`update api_key set status = 'disabled' where client_id = $1`, [key.clientId]);
      expect(await statuses(three.secret)).toEqual([401, 401]);
      expect((await at.api('POST', `/api-keys/${key.clientId}/links`, { hours: 1 })).status).toBe(409);
      const { rows } = await at.db.client.query<{ action: string }>(
        `select action from audit where client_id = $1 and action like 'link-%'`,
        [key.clientId],
      );
      expect(rows.map(({ action }) => action).toSorted()).toEqual([
        'link-created',
        'link-created',
        'link-created',
        'link-revoked',
      ]);
    });

    test('a link lasts seven days at most, and a key has twenty', async () => {
      const { clientId } = await newKey();
      for (const hours of [0, 169, 1.5, -1]) {
        expect((await at.api('POST', `/api-keys/${clientId}/links`, { hours })).status).toBe(422);
      }
      for (let n = 0; n < 20; n += 1) await newLink(clientId, 168);
      expect((await at.api('POST', `/api-keys/${clientId}/links`, { hours: 1 })).status).toBe(409);
      expect((await at.api('POST', `/api-keys/svc-${randomUUID()}/links`, { hours: 1 })).status).toBe(404);
    });

    test('the page shows a new secret once, and revokes', async () => {
      const { clientId } = await newKey();
      const path = `/admin/keys/${clientId}/links`;
      const made = await ask(path, { hours: '8' });
      const secret = /link_[A-Za-z0-9_-]{96}/.exec(made.text)?.[0] ?? '';
      expect(made.text).toContain(`/docs/try#${secret}`);
      expect((await check(secret)).status).toBe(200);
      const listed = await ask(path);
      expect(listed.text).not.toContain('link_');
      const revoke = /action="[^"]*(\/admin\/keys\/[^"]*\/revoke)"/.exec(listed.text)?.[1] ?? '';
      expect((await ask(revoke, {})).status).toBe(303);
      expect((await check(secret)).status).toBe(401);
      expect((await ask(path)).text).toContain('revoked by');
    });
  });
});
