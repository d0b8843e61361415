/** Compressed answers (RFC 9110 §12.5.3, §8.8.3), and request bodies with `Content-Encoding: gzip`. */
import { gunzipSync, gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { rawGet } from '../../stack/tools/raw-get.ts';
import { type Body, expectOutcome, idsOf, patient, type Subject } from './subject.ts';

const LARGE = {
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${'word '.repeat(400)}</div>` },
};

/** Another origin's header may be beside it. */
const codingsIn = (vary: string | undefined) => /\bAccept-Encoding\b/.exec(vary ?? '')?.[0];

export function compressionCases(subject: () => Subject): void {
  const ask = (path: string, headers: Readonly<Record<string, string>>, method?: string) =>
    rawGet(
      path.startsWith('http') ? path : subject().root + path,
      { authorization: `Bearer ${subject().token}`, ...headers },
      method,
    );

  describe('answers', () => {
    test('Accept-Encoding chooses the coding of a read, and Vary names it', async () => {
      const id = await subject().create(patient('packed', LARGE));
      const plain = await ask(`/Patient/${id}`, {});
      expect([plain.headers['content-encoding'], codingsIn(plain.headers.vary)]).toEqual([
        undefined,
        'Accept-Encoding',
      ]);
      for (const [accepted, coding] of [
        ['gzip', 'gzip'],
        ['gzip, deflate, br', 'gzip'],
        ['x-gzip', 'gzip'],
        ['*', 'gzip'],
        ['br;q=1, gzip;q=0.5', 'gzip'],
        ['gzip;q=0.5, identity;q=0.4', 'gzip'],
        ['gzip;q=0.4, identity;q=0.5', undefined],
        ['gzip;q=0', undefined],
        ['*;q=0.5, gzip;q=0', undefined],
        ['br', undefined],
        ['identity', undefined],
      ] as const) {
        const { status, headers, bytes } = await ask(`/Patient/${id}`, { 'accept-encoding': accepted });
        expect([accepted, status, headers['content-encoding'], codingsIn(headers.vary)]).toEqual([
          accepted,
          200,
          coding,
          'Accept-Encoding',
        ]);
        expect((coding === undefined ? bytes : gunzipSync(bytes)).equals(plain.bytes)).toBe(true);
        expect(headers.etag).toBe('W/"1"');
      }
    });

    test('an answer below 1 KiB is compressed only if the client excludes others; it is 406 if the client excludes both', async () => {
      const id = await subject().create(patient('small'));
      expect((await ask(`/Patient/${id}`, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined();
      const must = await ask(`/Patient/${id}`, { 'accept-encoding': 'gzip, identity;q=0' });
      expect(must.headers['content-encoding']).toBe('gzip');
      expect(JSON.parse(gunzipSync(must.bytes).toString())).toMatchObject({ id });
      for (const accepted of ['br, identity;q=0', 'br, *;q=0']) {
        const headers = { 'accept-encoding': accepted };
        expectOutcome(await subject().call('GET', `/Patient/${id}`, { headers }), 406, 'not-supported');
        const body = patient('never');
        expectOutcome(await subject().call('POST', '/Patient', { headers, body }), 406, 'not-supported');
      }
      expect((await subject().call('GET', '/Patient?identifier=never')).body['total']).toBe(0);
    });

    test('a page, an indented answer and an error are compressed; HEAD has the headers of GET', async () => {
      for (const path of ['/Patient?_count=20', '/Patient?_count=20&_pretty=true', `/Patient?${'x=1&'.repeat(30)}`]) {
        const headers = { 'accept-encoding': 'gzip' };
        const [plain, packed] = [await ask(path, {}), await ask(path, headers)];
        expect([path, packed.headers['content-encoding']]).toEqual([path, 'gzip']);
        expect(packed.bytes.length).toBeLessThan(plain.bytes.length);
        const { link: _, ...content } = JSON.parse(plain.bytes.toString()) as Body;
        expect(JSON.parse(gunzipSync(packed.bytes).toString())).toMatchObject(content);
      }
      const head = await ask('/Patient?_count=20', { 'accept-encoding': 'gzip' }, 'HEAD');
      expect([head.status, head.headers['content-encoding'], head.bytes.length]).toEqual([200, 'gzip', 0]);
    });

    test('a 304 has no coding, and the ETag of a compressed answer matches', async () => {
      const id = await subject().create(patient('kept', LARGE));
      const again = await ask(`/Patient/${id}`, { 'accept-encoding': 'gzip', 'if-none-match': 'W/"1"' });
      expect([again.status, again.headers['content-encoding'], codingsIn(again.headers.vary)]).toEqual([
        304,
        undefined,
        'Accept-Encoding',
      ]);
      // A strong ETag names bytes, so the two codings have different ones.
      const metadata = `${subject().root}/metadata`;
      const plain = await ask(metadata, {});
      const packed = await ask(metadata, { 'accept-encoding': 'gzip' });
      expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
      expect(packed.headers.vary).toMatch(/Accept-Encoding/);
      expect(packed.headers.etag).not.toBe(plain.headers.etag);
      const known = { 'accept-encoding': 'gzip', 'if-none-match': packed.headers.etag ?? '' };
      const unchanged = await ask(metadata, known);
      expect([unchanged.status, unchanged.headers.vary]).toEqual([304, packed.headers.vary]);
    });

    test('the reference and its files are compressed, tokens are not', async () => {
      const { fhirBaseUrl, oauthBaseUrl } = subject().gateway;
      const docsUrl = `${fhirBaseUrl}/docs`;
      const headers = { 'accept-encoding': 'gzip' };
      for (const path of ['', '/openapi.json', '/assets/swagger-ui.css', '/assets/docs-search.json']) {
        const [plain, packed] = [await ask(`${docsUrl}${path}`, {}), await ask(`${docsUrl}${path}`, headers)];
        expect([path, plain.status, packed.headers['content-encoding'], packed.headers['content-type']]).toEqual([
          path,
          200,
          'gzip',
          plain.headers['content-type'],
        ]);
        expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
        if (plain.headers.etag !== undefined) expect(packed.headers.etag).not.toBe(plain.headers.etag);
      }
      const refused = await ask(`${oauthBaseUrl}/oauth2/token`, headers, 'POST');
      expect(refused.headers['content-encoding']).toBeUndefined();
    });
  });

  describe('request bodies', () => {
    const post = async (path: string, body: Buffer, type = 'application/fhir+json') => {
      const headers = { authorization: `Bearer ${subject().token}`, 'content-type': type, 'content-encoding': 'gzip' };
      const response = await fetch(subject().root + path, { method: 'POST', headers, body: Uint8Array.from(body) });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Body };
    };
    const packed = (content: object) => gzipSync(JSON.stringify(content));

    test('create, Bundle and _search accept gzip', async () => {
      expect((await post('/Patient', packed(patient('gz-1')))).status).toBe(201);
      const entry = { resource: patient('gz-2'), request: { method: 'POST', url: 'Patient' } };
      const bundle = await post('', packed({ resourceType: 'Bundle', type: 'transaction', entry: [entry] }));
      expect(bundle.status, bundle.text).toBe(200);
      const form = await post('/Patient/_search', gzipSync('identifier=gz-2'), 'application/x-www-form-urlencoded');
      expect(form.status, form.text).toBe(200);
      expect(idsOf(form)).toHaveLength(1);
    });

    test('the limit counts the content: a few kilobytes that inflate beyond it are 413', async () => {
      const large = packed(patient('gz-3', { name: [{ text: 'x'.repeat(2 * 1024 * 1024) }] }));
      expect(large.length).toBeLessThan(10_000);
      expectOutcome(await post('/Patient', large), 413, 'too-long');
      expectOutcome(await post('/Patient', gzipSync(Buffer.alloc(64 * 1024 * 1024))), 413, 'too-long');
    });

    test('a body that is not complete gzip is 400', async () => {
      const complete = packed(patient('gz-4', LARGE));
      for (const bytes of [
        Buffer.from('{}'),
        Buffer.alloc(0),
        complete.subarray(0, -9),
        Buffer.concat([complete, Buffer.from('more')]),
      ]) {
        expectOutcome(await post('/Patient', bytes), 400, 'invalid');
      }
    });
  });
}
