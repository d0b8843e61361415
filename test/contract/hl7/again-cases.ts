/**
 * The same bytes again: an AA stays the same permanently. A rejected message is processed again, since a person may have fixed
 * the cause.
 */
import { expect, test } from 'vitest';

import { getToken } from '../../stack/services/client.ts';
import { createApiKey } from '../../stack/services/seed.ts';
import { msh } from '../../stack/tools/hl7-text.ts';
import type { Subject } from './subject.ts';

const pid = (id: string) => `PID|1||${id}^^^&1.2.40.7&ISO^MR||Doe^Jane||19800229|F`;
const oru = (control: string, id: string) => `${msh('ORU^R01^ORU_R01', control)}
  ${pid(id)}
  OBR|1||F-${id}|24323-8^Panel^LN|||202601010800||||||||||||||||||F
  OBX|1|NM|2345-7^Glucose^LN||5.5|mg/dL|||||F`;

interface Attempt {
  readonly number: number;
  readonly why: string;
  readonly outcome: string;
  readonly ack: string;
}

export function againCases(subject: () => Subject): void {
  const attempts = async (control: string): Promise<Attempt[]> => {
    const { rows } = await subject().db.client.query<Attempt>(
      `select a.number, a.why, a.outcome, convert_from(a.ack, 'UTF8') as ack
         from hl7_attempt a join hl7_message m on m.site_id = a.site_id and m.message_id = a.message_id
        where m.control_id = $1 order by a.number`,
      [control],
    );
    return rows;
  };
  const summary = async (control: string) =>
    (await attempts(control)).map(({ number, why, outcome }) => `${number} ${why} ${outcome}`);
  const current = (control: string, outcome: string) =>
    subject().count(`from hl7_message where control_id = '${control}' and outcome = '${outcome}'`);

  /** Two patients of a FHIR client with one shared number, and a second number each. */
  const twins = async (name: string): Promise<void> => {
    const { db, gateway, site } = subject();
    const token = await getToken(gateway.oauthBaseUrl, await createApiKey(db.client, { site }), {
      audience: 'svc-fhir',
    });
    for (const own of ['a', 'b']) {
      const identifier = [name, `${name}-${own}`].map((value) => ({ system: 'urn:oid:1.2.40.7', value }));
      const response = await fetch(`${gateway.fhirBaseUrl}/fhir/Patient`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
        body: JSON.stringify({ resourceType: 'Patient', identifier }),
      });
      expect(response.status).toBe(201);
    }
  };
  const merge = (name: string) => `${msh('ADT^A40^ADT_A39')}
    PID|1||${name}-a^^^&1.2.40.7&ISO^MR||Doe^Jane
    MRG|${name}-b^^^&1.2.40.7&ISO^MR`;

  test('a result with several matching patients is filed when it is sent again after the merge', async () => {
    await twins('G1');
    const message = oru('G-1', 'G1');
    const first = await subject().post(message);
    expect([first.status, first.errors]).toEqual([422, ['E 205 PID^1^3^1^1']]);
    // Nothing was fixed: the gateway makes the same answer again.
    expect((await subject().post(message)).errors).toEqual(['E 205 PID^1^3^1^1']);
    expect((await subject().post(merge('G1'))).text).toContain('\rMSA|AA|');

    const repaired = await subject().post(message);
    expect([repaired.status, repaired.errors]).toEqual([200, []]);
    const [kept] = await attempts('G-1');
    expect(kept?.ack).toBe(first.text);
    expect(await current('G-1', 'AA')).toBe(1);

    // From now on it is the AA, byte for byte, and nothing is done.
    expect((await subject().post(message)).text).toBe(repaired.text);
    expect(await summary('G-1')).toEqual(['1 received AE', '2 resent AE', '3 resent AA']);
    expect(await subject().count(`from resource where type = 'Observation' and body like '%F-G1%'`)).toBeLessThan(2);
  });

  test('a message of an unsupported type is kept when it is sent again after the key allows it', async () => {
    const { db, key } = subject();
    const set = (value: string) =>
      db.client.query('update api_key set hl7_unsupported_types = $1 where client_id = $2', [value, key.clientId]);
    const message = `${msh('SIU^S12', 'G-2')}\n${pid('G2')}`;
    expect((await subject().post(message)).status).toBe(422);
    await set('keep');
    const kept = await subject().post(message);
    await set('refuse');
    expect(kept.status).toBe(200);
    expect((await subject().post(message)).text).toBe(kept.text);
    expect(await summary('G-2')).toEqual(['1 received AR', '2 resent AA']);
  });

  test('a cancellation before its document is applied at once: the document is kept as cancelled', async () => {
    const cancel = `${msh('MDM^T11', 'G-2c')}
      ${pid('G2c')}
      TXA|1|OP^Operative^L|TX|||||||||DOC-G2c|||||AU`;
    expect(await subject().post(cancel)).toMatchObject({ status: 200, errors: ['W 204 TXA^1^12'] });
    expect(await subject().post(cancel)).toMatchObject({ status: 200, errors: ['W 204 TXA^1^12'] });
    expect(
      await subject().count(
        `from resource where type = 'DocumentReference' and body like '%DOC-G2c%' and body like '%"entered-in-error"%'`,
      ),
    ).toBe(1);
  });

  test('over MLLP the queue behind a rejected message continues after the cause is fixed', async () => {
    const { db, site } = subject();
    await createApiKey(db.client, { site, protocols: ['hl7-mllp'], allowedIps: ['203.0.113.150'] });
    await twins('G3');
    const queue = [oru('G-3', 'G3'), oru('G-3b', 'G3-other')];
    const send = async (): Promise<boolean> => {
      const [head] = queue;
      if (head === undefined) return false;
      const reply = await subject().forward(head, { src: '203.0.113.150' });
      expect(reply.status).toBe(200);
      if (!reply.text.includes('\rMSA|AA|')) return false;
      queue.shift();
      return true;
    };
    expect([await send(), await send()]).toEqual([false, false]);
    await subject().post(merge('G3'));
    expect([await send(), await send(), queue.length]).toEqual([true, true, 0]);
    expect(await summary('G-3')).toEqual(['1 received AE', '2 resent AE', '3 resent AA']);
  });

  test('one of several simultaneous messages after the fix is processed, and all get its AA', async () => {
    await twins('G4');
    const message = oru('G-4', 'G4');
    expect((await subject().post(message)).status).toBe(422);
    await subject().post(merge('G4'));
    const replies = await Promise.all(Array.from({ length: 5 }, () => subject().post(message)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(await summary('G-4')).toEqual(['1 received AE', '2 resent AA']);
  });

  test('each of several simultaneous rejected messages is a separate attempt', async () => {
    const message = `${msh('ADT^A01', 'G-5')}\nPID|1||||Doe^Jane`;
    const replies = await Promise.all(Array.from({ length: 4 }, () => subject().post(message)));
    expect(replies.map(({ errors }) => errors)).toEqual(Array.from({ length: 4 }, () => ['E 101 PID^1^3^1^1']));
    expect(await summary('G-5')).toEqual(['1 received AE', '2 resent AE', '3 resent AE', '4 resent AE']);
    const kept = new Set((await attempts('G-5')).map(({ ack }) => ack));
    expect(replies.every(({ text }) => kept.has(text))).toBe(true);
  });
}
