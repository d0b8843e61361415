/** The sender's answer: its acknowledgements, their shape, and that a refusal over HTTP always has a body. */
import { expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import type { Subject } from './subject.ts';

const pid = (id: string) => `PID|1||${id}^^^HOSP^MR||Doe^Jane`;
const unreadable = (id: string) => `${pid(id)}||00000000`;
const NO_NUMBER = 'PID|1||||Doe^Jane';

/** Characters that the search index keeps of a Patient's names, with the two that join them. */
const LONGEST_INDEXED = 8_194;

export function answerCases(subject: () => Subject): void {
  const code = (text: string) => /\rMSA\|(..)\|/.exec(text)?.[1];

  /** A key whose messages are judged by `columns`; its token, and the address that it may send from. */
  const keyWith = async (columns: Readonly<Record<string, unknown>>, address: string) => {
    const { db, gateway, site } = subject();
    const key = await createApiKey(db.client, { site, protocols: ['hl7', 'hl7-mllp'], allowedIps: [address] });
    for (const [column, value] of Object.entries(columns)) {
      await db.client.query(`update api_key set ${column} = $1 where client_id = $2`, [value, key.clientId]);
    }
    const token = await getToken(gateway.oauthBaseUrl, key, { audience: 'svc-hl7-http' });
    return { key, authorization: `Bearer ${token}` };
  };

  test.each([
    ['|||NE|NE', NO_NUMBER, 422, 'AE'],
    ['|||SU|SU', NO_NUMBER, 422, 'AE'],
    ['|||AL|NE', NO_NUMBER, 422, 'CE'],
    ['|||AL|AL', NO_NUMBER, 422, 'AE'],
    ['|||AL|AL', pid('AN1'), 200, 'AA'],
    ['|||AL|NE', pid('AN1'), 200, 'CA'],
    ['|||NE|AL', pid('AN1'), 200, 'AA'],
  ])('over HTTP %s, %s: %i with %s', async (asks, segment, status, expected) => {
    const reply = await subject().post(`${msh('ADT^A08')}${asks}\n${segment}`);
    expect({ status: reply.status, code: code(reply.text) }).toEqual({ status, code: expected });
  });

  test('a sender of 2.3 gets an ACK of 2.3', async () => {
    const reply = await subject().post(`${msh('ADT^A08', 'AN-old').replace('|2.5.1', '|2.3')}\n${NO_NUMBER}`);
    expect(reply.text).toContain('||ACK^A08|');
    expect(reply.text).toMatch(/\rMSA\|AE\|AN-old\|[^\r]+\rERR\|PID\^1\^3\^101&Required field missing&HL70357\r$/);
  });

  test('a birth date of zeros is left out with W; a strict key rejects the message', async () => {
    const message = `${msh('ADT^A08')}\n${unreadable('AN2')}`;
    expect(await subject().post(message)).toMatchObject({ status: 200, errors: ['W 102 PID^1^7^1^1'] });
    const { authorization } = await keyWith({ hl7_strict: true }, '192.0.2.61');
    expect(await subject().post(message, { authorization })).toMatchObject({
      status: 422,
      errors: ['E 102 PID^1^7^1^1'],
    });
  });

  test.each([
    ['a thousand names of ligatures', Array.from({ length: 999 }, (_, n) => `Cost${n}${'\ufdfa'.repeat(60)}^Jane`)],
    ['a name of ligatures', [`Cost0${'\ufdfa'.repeat(250_000)}^Jane`]],
    ['a name of combining marks out of order', [`Cost0${'\u0315\u0300'.repeat(64_000)}^Jane`]],
  ])('%s is accepted, kept, and costs no more than its bounds', async (_, names) => {
    const id = `AN-names${names.length}x${names[0]?.length}`;
    const sent = `PID|1||${id}^^^HOSP^MR||${names.join('~')}`;
    const message = `${msh('ADT^A08')}||||||UNICODE UTF-8\n${sent}`;
    for (const again of ['once', 'and compared with what is stored']) {
      const reply = await subject().post(again === 'once' ? message : message.replace(/\|C\d+\|/, `|${id}b|`));
      expect({ status: reply.status, code: code(reply.text), errors: reply.errors }).toEqual({
        status: 200,
        code: 'AA',
        errors: [],
      });
    }
    const { rows } = await subject().db.client.query<{ body: string; longest: number }>(
      `select r.body, greatest(length(s.names), length(s.families), length(s.givens), length(s.exact),
              (select coalesce(sum(length(t.trait)), 0) from patient_trait t where t.id = r.id)) as longest
         from resource_identifier i
         join resource r on r.site_id = i.site_id and r.type = i.type and r.id = i.id
         join patient_search s on s.site_id = r.site_id and s.id = r.id
        where i.value = $1`,
      [id],
    );
    expect(rows).toHaveLength(1);
    const families = [...(rows[0]?.body ?? '').matchAll(/"family":"([^"]*)"/g)].map(([, family]) => `${family}^Jane`);
    expect(families).toEqual(names);
    expect(Number(rows[0]?.longest)).toBeLessThanOrEqual(LONGEST_INDEXED);
  });

  test('a message of an unmapped type is stored if the key allows it', async () => {
    const { key, authorization } = await keyWith({ hl7_unsupported_types: 'keep' }, '192.0.2.62');
    const reply = await subject().post(`${msh('SIU^S12', 'AN-siu')}\nSCH|1\n${pid('AN3')}`, { authorization });
    expect(reply).toMatchObject({ status: 200, errors: ['I 200 MSH^1^9^1^1'] });
    const kept = `from hl7_message where client_id = '${key.clientId}' and message_type = 'SIU^S12' and outcome = 'AA'`;
    expect(await subject().count(kept)).toBe(1);
    expect(await subject().count(`from resource_identifier where value = 'AN3'`)).toBe(0);
  });

  test('information is stored but not returned if the key suppresses it', async () => {
    const { key, authorization } = await keyWith({ hl7_information: false }, '192.0.2.63');
    const reply = await subject().post(`${msh('ADT^A11')}\n${unreadable('AN4')}\nZPI|1`, { authorization });
    expect(reply).toMatchObject({ status: 200, errors: ['W 102 PID^1^7^1^1'] });
    const kept = `from hl7_message where client_id = '${key.clientId}' and errors::text like '%no-effect%'`;
    expect(await subject().count(kept)).toBe(1);
  });

  test('two acknowledgements for a sidecar that supports them; for an older one, the application’s', async () => {
    await keyWith({ hl7_accept_ack: true }, '192.0.2.64');
    const send = (message: string, contract?: string) =>
      subject().forward(
        message,
        { src: '192.0.2.64' },
        contract === undefined ? {} : { headers: { 'mllp-contract': contract } },
      );
    const both = `${msh('ADT^A08', 'AN-both')}|||AL|AL\n${pid('AN5')}`;
    const two = await send(both, '2');
    const length = Number(two.headers.get('mllp-accept-length'));
    expect([code(two.text.slice(0, length)), code(two.text.slice(length))]).toEqual(['CA', 'AA']);
    // Sent again, the application's is the same to the byte.
    const again = await send(both, '2');
    expect(again.text.slice(Number(again.headers.get('mllp-accept-length')))).toBe(two.text.slice(length));
    for (const older of [undefined, '1', 'x']) {
      const one = await send(both, older);
      expect(one.headers.get('mllp-accept-length')).toBeNull();
      expect(one.text).toBe(two.text.slice(length));
    }
    const refused = await send(`${msh('ADT^A08', 'AN-no')}|||AL|AL\n${NO_NUMBER}`, '2');
    const [, accept, application] = refused.text.split('MSH|');
    expect([code(accept ?? ''), code(application ?? '')]).toEqual(['CE', 'AE']);
    const oneAsked = await send(`${msh('ADT^A08', 'AN-one')}|||AL|NE\n${pid('AN5')}`, '2');
    expect(oneAsked.headers.get('mllp-accept-length')).toBeNull();
    expect(code(oneAsked.text)).toBe('CA');
  });
}
