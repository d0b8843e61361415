/** The link of a hint leads to the message or the issue that the hint names, after the messages that cause the hint. */
import { describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface List {
  readonly items: readonly {
    readonly messageId: string;
    readonly requestId: string;
    readonly code: string;
    readonly hint: string;
    readonly kind: string;
    readonly patients: readonly unknown[];
  }[];
}

interface Detail {
  readonly errors: readonly { readonly code: string; readonly reason: string; readonly severity: string }[];
  readonly segments: readonly {
    readonly findings: readonly object[];
    readonly fields: readonly { readonly path: string; readonly findings: readonly object[] }[];
  }[];
}

const msh = (type: string, control: string): string =>
  `MSH|^~\\&|HIS|EAST|GW|GW|20261101080000+0100||${type}|${control}|P|2.5.1\r`;
const pid = (ids: string, who = 'Lovelace^Ada||19701231|F'): string => `PID|1||${ids}||${who}\r`;
const admit = (control: string, ids: string, who?: string): string =>
  `${msh('ADT^A08^ADT_A01', control)}EVN|A08|20261101080000+0100\r${pid(ids, who)}`;
const result = (control: string, ids: string, who?: string, code = '718-7^Hemoglobin^LN'): string =>
  `${msh('ORU^R01^ORU_R01', control)}${pid(ids, who)}OBR|1||F-${control}|718-7^Hemoglobin^LN|||20261101080000+0100\r` +
  `OBX|1|NM|${code}||13.1|g/dL|||||F\r`;
const merge = (control: string, to: string, from: string, who: string, event = 'A40^ADT_A39'): string =>
  `${msh(`ADT^${event}`, control)}EVN||20261101080000+0100\r${pid(to, who)}MRG|${from}\r`;

describe.each(ONE_RUNTIME)('a hint, on %s', (runtime) => {
  const at = useConsole(runtime, { key: { protocols: ['hl7'] } });

  const send = async (text: string) => {
    const response = await at.send(text);
    return { status: response.status, id: response.headers.get('x-request-id') ?? '', ack: await response.text() };
  };
  /** The page Requests lists a request some seconds after its answer. */
  const noted = async (id: string) => {
    await expect.poll(async () => (await at.json<List>(`/requests?q=${id}`)).items.length, { timeout: 30_000 }).toBe(1);
    return (await at.json<List>(`/requests?q=${id}`)).items[0];
  };
  const attention = async (kind: string) => (await at.json<List>(`/attention?kind=${kind}`)).items;

  const LOST = 'Lost^Lea||19600202|F';
  test.each([
    ['205', 'patient-differs', [], result('H-1', '1001^^^EAST^MR', 'Jones^Bob||19501231|M'), 'PID-3'],
    ['101', 'required-field-missing', [], result('H-2', '1001^^^EAST^MR', undefined, ''), 'OBX-3'],
    [
      '204',
      'merged-elsewhere',
      [
        ...['1011', '1012', '1013'].map((number) => admit(`H-${number}`, `${number}^^^EAST^MR`, LOST)),
        merge('H-3', '1011^^^EAST^MR', '1013^^^EAST^MR', LOST),
      ],
      merge('H-9', '1012^^^EAST^MR', '1013^^^EAST^MR', LOST),
      'MRG-1',
    ],
  ] as const)(
    'for %s %s leads to the message in Messages, which marks the place',
    async (code, reason, before, text, path) => {
      for (const each of [admit('H-0', '1001^^^EAST^MR'), ...before]) expect((await send(each)).status).toBe(200);
      const { status, id, ack } = await send(text);
      expect(status, ack).toBe(422);
      const found = await noted(id);
      expect(found).toMatchObject({ code, hint: expect.stringContaining('The message is in Messages') });
      expect(found?.hint).not.toContain('Attention');
      const [message] = (await at.json<List>(`/messages?q=${id}`)).items;
      const { errors, segments } = await at.json<Detail>(`/messages/${message?.messageId}`);
      expect(errors).toContainEqual(expect.objectContaining({ code, reason, severity: 'E' }));
      const marked = segments.flatMap(({ fields }) => fields).filter(({ findings }) => findings.length > 0);
      expect(marked.map((field) => field.path)).toContain(path);
    },
  );

  test('for a batch that cannot be read leads to no message, since none is stored', async () => {
    const { status, id } = await send(`BHS|^~\\&|HIS|EAST\r${admit('H-4', '1004^^^EAST^MR')}BTS|2\r`);
    expect(status).toBe(422);
    expect(await noted(id)).toMatchObject({
      code: 'broken-batch',
      hint: expect.stringContaining('No message of the batch'),
    });
    expect((await at.json<List>('/messages?q=H-4')).items).toEqual([]);
  });

  test('in an ACK that asks for a review leads to the page that lists the issue', async () => {
    for (const [control, number] of [
      ['H-5', '1005'],
      ['H-6', '1006'],
    ] as const) {
      expect((await send(admit(control, `${number}^^^EAST^MR`, `Person${number}^Pat||19700101|F`))).status).toBe(200);
    }
    // The identifier of another patient, beside the patient's own.
    const several = await send(admit('H-7', '1005^^^EAST^MR~1006^^^EAST^MR', 'Person1005^Pat||19700101|F'));
    expect(several.ack).toContain('identifiers-of-several');
    expect(await attention('possible-duplicate')).toHaveLength(1);
    const person = 'Person1005^Pat||19700101|F';
    const moved = await send(merge('H-8', '1005^^^EAST^MR', '1006^^^EAST^MR', person, 'A43^ADT_A43'));
    expect(moved.ack).toContain('not-moved');
    expect(await attention('not-moved')).toHaveLength(1);
  });
});
