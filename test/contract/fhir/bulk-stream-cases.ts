/**
 * Files of exports, read while others write. They show one moment, are equal each time, and are sent no faster than the client
 * reads. They end early where they must.
 */
import { randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';

import { beforeAll, describe, expect, test } from 'vitest';

import { ALL_SCOPES, type ApiKey, createApiKey, createSite } from '../../stack/services/seed.ts';
import { getToken } from '../../stack/services/client.ts';
import { until } from '../../stack/services/until.ts';
import { rawGet } from '../../stack/tools/raw-get.ts';
import { forgedToken } from '../../stack/tools/access-token.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import { randomFrom } from '../../stack/tools/random.ts';
import { sized } from '../../stack/tools/size.ts';
import { begin, complete, download, exported, linesOf, type Manifest, manifestOf } from './bulk-export.ts';
import { type Body, observation, patient, type Subject } from './subject.ts';

/** More than sockets and clients hold by themselves: some 22 MB, in pages of a megabyte. */
const OBSERVATIONS = 18_000;
const PAGES = 18;

/** A file that is read a piece at a time. */
async function reading(url: string, token: string) {
  // Compressed, the pages would fit into the sockets.
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' } });
  expect(response.status).toBe(200);
  return readingOf(response);
}

function readingOf(response: Response) {
  if (response.body === null) throw new Error('there is no body');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    /** Reads one piece. */
    async some(): Promise<void> {
      const { value } = await reader.read();
      text += decoder.decode(value, { stream: true });
    },
    /** Reads to the end. @throws where it breaks off */
    async rest(): Promise<string> {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return text + decoder.decode();
        text += decoder.decode(value, { stream: true });
      }
    },
    /** How it ends: broken off, or after so many characters. */
    async end(): Promise<'broken' | number> {
      return this.rest().then(
        (all) => all.length,
        () => 'broken' as const,
      );
    },
  };
}

export function bulkStreamCases(subject: () => Subject): void {
  describe('a large file', () => {
    let site: string;
    let key: ApiKey;
    let token: string;
    let p: string;
    let status: string;
    let url: string;
    let fullText: string;

    beforeAll(async () => {
      const { client, gateway } = subject();
      site = await createSite(client);
      key = await createApiKey(client, { site, tokenTtlSeconds: 3600 });
      token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
      p = await subject().create(patient('large'), token);
      await client.query(
        `insert into resource (site_id, type, id, version, last_updated, meta, body, patient_id)
         select $1, 'Observation', ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 1, '2026-01-01', '',
                '"status":"final","code":{"text":"' || repeat('x', 1000) || '"},"subject":{"reference":"Patient/' || $2::text || '"}',
                $2::uuid
           from generate_series(1, $3::integer) i`,
        [site, p, OBSERVATIONS],
      );
      status = await begin(subject(), '/$export?_type=Observation', { token });
      const { output } = (await complete(subject(), status, { token })).body;
      expect(output.map(({ count }) => count)).toEqual([OBSERVATIONS]);
      url = output[0]?.url ?? '';
      fullText = await download(url, token);
      expect(linesOf(fullText)).toHaveLength(OBSERVATIONS);
    });

    /** Stops reading until the gateway has stopped too, and says how many round trips it made for it. */
    async function paused(): Promise<number> {
      const { endpoint } = subject().db;
      let last = -1;
      let since = Date.now();
      return until('the gateway waits for the client', () => {
        const now = endpoint.requests();
        if (now !== last) [last, since] = [now, Date.now()];
        return Date.now() - since > 500 && now;
      });
    }

    test('is read no faster than the client reads, and does not change with later writes', async () => {
      const { endpoint } = subject().db;
      const before = endpoint.requests();
      const file = await reading(url, token);
      await file.some();
      expect((await paused()) - before).toBeLessThan(PAGES);
      // Behind what has been read: a new version, another patient, and a resource that was not there.
      const q = await subject().create(patient('other'), token);
      for (const n of [OBSERVATIONS - 10, OBSERVATIONS - 1, OBSERVATIONS]) {
        const id = `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
        const { status: updated, text } = await subject().call('PUT', `/Observation/${id}`, {
          token,
          body: observation(q, { id }),
        });
        expect(updated, text).toBe(200);
      }
      await subject().create(observation(p), token);
      expect((await file.rest()) === fullText).toBe(true);
      const now = await manifestOf(subject(), '/$export?_type=Observation', { token });
      expect(now.output.map(({ count }) => count)).toEqual([OBSERVATIONS + 1]);
    });

    test('is compressed page by page, and inflates to the same text', async () => {
      const { bytes, headers } = await rawGet(url, { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' });
      expect(headers['content-encoding']).toBe('gzip');
      expect(headers.vary).toMatch(/\bAccept-Encoding\b/);
      expect(bytes.length).toBeLessThan(fullText.length / 10);
      expect(gunzipSync(bytes).toString() === fullText).toBe(true);
    });

    test('holds no memory after a HEAD, which has no body to read', async () => {
      for (let n = 0; n < sized(4, 20); n += 1) expect(await fetchStatus(url, token)).toBe(200);
    });

    test('continues when the token expires, and the expired token begins no other download', async () => {
      const { gateway } = subject();
      const readWith = async (ttlSeconds: number): Promise<{ token: string; response: Response; exp: number }> => {
        const exp = Math.floor(Date.now() / 1000) + ttlSeconds;
        const short = await forgedToken(gateway, key, { exp, scope: ALL_SCOPES.join(' ') });
        const headers = { authorization: `Bearer ${short}`, 'accept-encoding': 'identity' };
        const response = await fetch(url, { headers });
        // As short as this machine, and what else it does, can begin to read in.
        if (response.status === 401 && ttlSeconds < 60) return readWith(ttlSeconds * 2);
        return { token: short, response, exp };
      };
      const begun = await readWith(2);
      expect(begun.response.status).toBe(200);
      const file = readingOf(begun.response);
      await file.some();
      // HEAD reads a page of the file: none before the token can have expired.
      await until('the token has expired', async () => {
        return Date.now() / 1000 > begun.exp && (await fetchStatus(url, begun.token)) === 401;
      });
      expect((await file.rest()) === fullText).toBe(true);
    });

    test('breaks off when the export is cancelled, the token is revoked, the key loses its scope or the key is disabled', async () => {
      const { client, gateway } = subject();
      const cancelled = await begin(subject(), '/$export?_type=Observation', { token });
      const [first] = (await complete(subject(), cancelled, { token })).body.output;
      const other = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
      // As soon as it has begun: a machine may hold all of the file in its sockets for a client that waits.
      const begun = async (address: string, by: string) => {
        const file = await reading(address, by);
        await file.some();
        return file;
      };
      const one = await begun(first?.url ?? '', token);
      expect((await subject().call('DELETE', cancelled, { token })).status).toBe(202);
      expect(await one.end()).toBe('broken');
      const two = await begun(url, other);
      const revoked = await fetch(`${gateway.oauthBaseUrl}/oauth2/revoke`, {
        method: 'POST',
        headers: { authorization: `Bearer ${other}` },
        body: new URLSearchParams({ token: other }),
      });
      expect(revoked.status).toBe(200);
      expect(await two.end()).toBe('broken');
      const allow = (scopes: readonly string[]) =>
        client.query('update api_key set allowed_scopes = $2 where client_id = $1', [key.clientId, scopes]);
      const three = await begun(url, token);
      // The file needs neither of these.
      await allow(ALL_SCOPES.filter((scope) => scope.includes('Observation')));
      expect((await three.rest()) === fullText).toBe(true);
      const four = await begun(url, token);
      await allow(['system/Observation.write']);
      expect(await four.end()).toBe('broken');
      expect(await fetchStatus(url, token)).toBe(403);
      await allow(ALL_SCOPES);
      const five = await begun(url, token);
      await client.query(`update api_key set status = 'disabled' where client_id = $1`, [key.clientId]);
      expect(await five.end()).toBe('broken');
    });

    const fetchStatus = async (address: string, by: string): Promise<number> => {
      const response = await fetch(address, { method: 'HEAD', headers: { authorization: `Bearer ${by}` } });
      return response.status;
    };
  });
}

/** Exports while others write, on one runtime: they are about statements of SQL. */
export function bulkConcurrentCases(subject: () => Subject): void {
  test('while others write, update and merge: each file shows its moment, and all exports together add up', async () => {
    const { client, gateway } = subject();
    const site = await createSite(client, { assigningAuthorities: { HOSP: 'urn:mrn' } });
    const key = await createApiKey(client, { site, tokenTtlSeconds: 3600 });
    const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-fhir' });
    const hl7Token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
    const patients: string[] = [];
    for (let n = 0; n < 12; n += 1) patients.push(await subject().create(patient(`M${n}`), token));
    const over = new AbortController();
    const random = randomFrom(20_261_122);
    let writes = 0;
    const done = (status: number, allowed: readonly number[], text: string): void => {
      expect(allowed, text).toContain(status);
      writes += 1;
    };
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

    const writer = async (): Promise<void> => {
      const own: string[] = [];
      while (!over.signal.aborted) {
        const body = observation(pick(patients), { valueString: randomUUID() });
        const id = own.length > 3 ? pick(own) : undefined;
        const [method, path] = id === undefined ? ['POST', '/Observation'] : ['PUT', `/Observation/${id}`];
        const sent = await subject().call(method ?? '', path ?? '', {
          token,
          body: id === undefined ? body : { ...body, id },
        });
        // The wait for a patient that is being merged may take too long.
        done(sent.status, [200, 201], sent.text);
        if (id === undefined) own.push(String(sent.body['id']));
        if (random() < 0.3) own.length = 0;
      }
    };
    const merger = async (): Promise<void> => {
      for (let n = 0; !over.signal.aborted; n += 1) {
        const [a, b] = [`M${n % 12}`, `M${(n * 5 + 1) % 12}`];
        if (a === b) continue;
        const text = `${msh('ADT^A40^ADT_A39', randomUUID())}\nPID|1||${a}^^^HOSP^MR||Doe^Jane\nMRG|${b}^^^HOSP^MR`;
        const response = await fetch(`${gateway.hl7BaseUrl}/hl7/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${hl7Token}`, 'content-type': 'text/plain' },
          body: text.replaceAll('\n', '\r'),
        });
        done(response.status, [200, 422, 503], await response.text());
      }
    };

    const nameOf = ({ resourceType, id, meta }: Body): string => `${resourceType}/${id}/${meta.versionId}`;
    /** The versions that were stored at a moment. */
    const storedAt = async (at: string): Promise<string[]> => {
      const { rows } = await client.query<{ name: string }>(
        `select distinct on (v.type, v.id) v.type || '/' || v.id || '/' || v.version as name
           from (select type, id, version, last_updated from resource where site_id = $1
                 union all select type, id, version, last_updated from resource_history where site_id = $1) v
          where v.last_updated <= $2 order by v.type, v.id, v.version desc`,
        [site, at],
      );
      return rows.map(({ name }) => name).toSorted();
    };

    const writing = Promise.all([writer(), writer(), writer(), merger()]);
    /** The data of a client that applies one export after the other. */
    const replica = new Map<string, string>();
    const seen: { readonly manifest: Manifest; readonly names: readonly string[] }[] = [];
    const apply = async (since: string | undefined): Promise<string> => {
      const query = since === undefined ? '' : `?_since=${since}`;
      const manifest = await manifestOf(subject(), `/$export${query}`, { token });
      for (const resource of await exported(manifest, token))
        replica.set(`${resource['resourceType']}/${resource['id']}`, nameOf(resource));
      seen.push({ manifest, names: [...replica.values()].toSorted() });
      return manifest.transactionTime;
    };
    let at: string | undefined;
    try {
      for (let round = 0; round < sized(3, 60); round += 1) {
        const sofar = writes;
        at = await apply(at);
        await until('there are more writes', () => writes > sofar + 20);
      }
    } finally {
      over.abort();
    }
    await writing;
    await apply(at);
    for (const { manifest, names } of seen) expect(names).toEqual(await storedAt(manifest.transactionTime));
    expect(seen.at(-1)?.names).toEqual(await storedAt('infinity'));
    const { rows } = await client.query(
      `select from resource_history where site_id = $1 and type = 'Observation' and patient_id is not null`,
      [site],
    );
    expect(rows.length).toBeGreaterThan(20);
  });
}
