/** Rows 1-14 of what is refused: HTTP and the form. */
import { expect, test } from 'vitest';

import { connect } from 'node:net';
import { once } from 'node:events';

import { ASSERTION_TYPE } from '../../stack/services/client.ts';
import {
  assertion,
  expectC,
  expectRefusal,
  expectToken,
  formOf,
  post,
  present,
  reasonKept,
  type Subject,
} from './subject.ts';

const FORM = 'application/x-www-form-urlencoded';

export function formCases(subject: () => Subject): void {
  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])('1: %s', async (method) => {
    const response = await fetch(subject().tokenEndpoint, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('2: JSON, multipart, text, no content type, another charset', async () => {
    const key = await subject().createKey();
    for (const type of [
      'application/json',
      'multipart/form-data; boundary=x',
      'text/plain',
      `${FORM}; charset=latin1`,
      '',
    ]) {
      const form = new URLSearchParams(formOf(await assertion(subject(), key))).toString();
      expectRefusal(await post(subject(), form, { headers: { 'content-type': type } }), 400, 'invalid_request', /./);
    }
    const form = new URLSearchParams(formOf(await assertion(subject(), key))).toString();
    expectToken(await post(subject(), form, { headers: { 'content-type': `${FORM}; charset=UTF-8` } }));
  });

  test('2: a form that is all ASCII, in a charset that begins with ASCII', async () => {
    const key = await subject().createKey();
    for (const charset of ['ISO-8859-1', 'US-ASCII', 'windows-1252']) {
      const headers = { 'content-type': `${FORM}; charset=${charset}` };
      const form = new URLSearchParams({ ...formOf(await assertion(subject(), key)), x: 'Müller' }).toString();
      expectToken(await post(subject(), form, { headers }));
      const raw = await post(subject(), `${form}&y=M\u00fcller`, { headers });
      expectRefusal(raw, 400, 'invalid_request', /contains other characters than ASCII/);
    }
  });

  test('3: over 16 KiB, declared', async () => {
    expectRefusal(await post(subject(), `a=${'b'.repeat(16384)}`), 413, 'invalid_request', /16384 bytes/);
  });

  test('3: over 16 KiB, streamed', async () => {
    const { port } = subject().gateway;
    const path = new URL(subject().tokenEndpoint).pathname;
    const socket = connect(port, '127.0.0.1');
    const chunk = `1000\r\n${'a'.repeat(4096)}\r\n`;
    socket.on('error', () => undefined);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n`,
    );
    socket.write(`Connection: close\r\n\r\n${chunk.repeat(6)}0\r\n\r\n`);
    let answer = '';
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString('latin1')));
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('4: a Content-Encoding', async () => {
    const answer = await post(subject(), 'a=1', { headers: { 'content-encoding': 'gzip' } });
    expectRefusal(answer, 415, 'invalid_request', /Content-Encoding/);
  });

  test('5: a parameter twice, known or not', async () => {
    const key = await subject().createKey();
    for (const more of ['grant_type=client_credentials', 'scope=', 'x=1&x=1', '%73cope=a']) {
      const form = new URLSearchParams(formOf(await assertion(subject(), key))).toString();
      expectRefusal(await post(subject(), `${form}&${more}`), 400, 'invalid_request', /occurs twice/);
    }
  });

  test('6: parameters in the query', async () => {
    const key = await subject().createKey();
    const form = formOf(await assertion(subject(), key));
    const answer = await post(subject(), form, { path: '/oauth2/token?scope=a' });
    expectRefusal(answer, 400, 'invalid_request', /query/);
  });

  test.each<[string, string]>([
    ['half an escape', 'a=%'],
    ['no escape', 'a=%zz'],
    ['NUL', 'a=%00'],
    ['invalid UTF-8', 'a=%ff'],
    ['a line feed', 'a=%0a'],
    ['21 parameters', Array.from({ length: 21 }, (_, i) => `p${i}=`).join('&')],
  ])('7: %s', async (_, form) => {
    expectRefusal(await post(subject(), form), 400, 'invalid_request', /./);
  });

  test('8: an empty value is as if absent', async () => {
    const key = await subject().createKey();
    const text = await assertion(subject(), key);
    expectToken(await present(subject(), text, { audience: '', client_id: '', x: '' }));
    expectRefusal(await present(subject(), text, { grant_type: '' }), 400, 'invalid_request', /grant_type is required/);
  });

  test('9, 10: grant_type missing or another', async () => {
    const key = await subject().createKey();
    const text = await assertion(subject(), key);
    const missing = await present(subject(), text, { grant_type: undefined });
    expectRefusal(missing, 400, 'invalid_request', /grant_type is required/);
    for (const grant of ['authorization_code', 'Client_Credentials', 'client_credentials ', 'password']) {
      const answer = await present(subject(), text, { grant_type: grant });
      expectRefusal(answer, 400, 'unsupported_grant_type', /expected client_credentials/);
    }
    expect(await reasonKept(subject(), missing)).toBe('grant_type: grant_type is required');
    // None of these has used it up.
    expectToken(await present(subject(), text));
  });

  test('11: type and assertion go together', async () => {
    const key = await subject().createKey();
    const text = await assertion(subject(), key);
    for (const change of [
      { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' },
      { client_assertion_type: ASSERTION_TYPE.toUpperCase() },
      { client_assertion_type: undefined },
      { client_assertion: undefined },
    ]) {
      expectRefusal(await present(subject(), text, change), 400, 'invalid_request', /client_assertion/);
    }
  });

  test('12: no client authentication that we know', async () => {
    const key = await subject().createKey();
    const text = await assertion(subject(), key);
    const none = { grant_type: 'client_credentials', scope: 'system/*.read' };
    const basic = `Basic ${Buffer.from(`${key.clientId}:secret`).toString('base64')}`;
    expectC(await post(subject(), none));
    expectC(await post(subject(), { ...none, client_id: key.clientId }));
    expectC(await post(subject(), { ...none, client_id: key.clientId, client_secret: 'secret' }));
    const challenge = 'Bearer realm="integration-gateway", error="invalid_client"';
    expectC(await post(subject(), none, { headers: { authorization: basic } }), challenge);
    expectC(await post(subject(), none, { headers: { authorization: `Bearer ${text}` } }), challenge);
  });

  test('13: rejects a second client authentication beside the assertion', async () => {
    const key = await subject().createKey();
    const text = await assertion(subject(), key);
    const headers = { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` };
    expectRefusal(await post(subject(), formOf(text), { headers }), 400, 'invalid_request', /use only one/);
    expectRefusal(await present(subject(), text, { client_secret: 'b' }), 400, 'invalid_request', /client_secret/);
  });

  test('14: client_id is sub, or absent', async () => {
    const key = await subject().createKey();
    const other = await subject().createKey();
    const refused = await present(subject(), await assertion(subject(), key), { client_id: other.clientId });
    expectC(refused);
    expect(await reasonKept(subject(), refused)).toBe(
      `client: client_id was "${other.clientId}", sub was "${key.clientId}"`,
    );
    expectToken(await present(subject(), await assertion(subject(), key), { client_id: key.clientId }));
  });
}
