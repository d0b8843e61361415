/** The console shows the versions that a message wrote, and no others. */
import { describe, expect, test } from 'vitest';

import { useConsole } from '../stack/tools/console-site.ts';
import { getToken } from '../stack/services/client.ts';
import { ONE_RUNTIME } from '../stack/tools/gateway.ts';

interface Change {
  readonly reference: string;
  readonly version: number;
  readonly currentVersion: number;
  readonly change: string;
  readonly isForgotten: boolean;
  readonly elements: readonly {
    readonly element: string;
    readonly before: string | null;
    readonly after: string | null;
    readonly fields: readonly string[];
  }[];
}

const msh = (type: string, control: string, minute: number): string =>
  `MSH|^~\\&|HIS|EAST|GW|GW|202611010${800 + minute}00+0100||${type}|${control}|P|2.5.1\r`;
const pid = (mrn: string, address = '', family = 'Lovelace'): string =>
  `PID|1||${mrn}^^^EAST^MR||${family}^Ada||19701231|F|||${address}\r`;
const admit = (control: string, minute: number, mrn: string, address = '', family?: string): string =>
  `${msh('ADT^A08^ADT_A01', control, minute)}EVN|A08|20261101080000+0100\r${pid(mrn, address, family)}`;
const result = (control: string, minute: number, mrn: string, order: string): string =>
  `${msh('ORU^R01^ORU_R01', control, minute)}${pid(mrn)}OBR|1||${order}|718-7^Hemoglobin^LN|||20261101080000+0100\r` +
  'OBX|1|NM|718-7^Hemoglobin^LN||13.1|g/dL|||||F\r';

describe.each(ONE_RUNTIME)('the changes of a message, on %s', (runtime) => {
  const at = useConsole(runtime, { key: { protocols: ['hl7', 'fhir'] } });

  const send = async (text: string): Promise<void> => {
    const response = await at.send(text);
    expect(response.status, await response.text()).toBe(200);
  };
  const idOf = async (control: string): Promise<string> => {
    const { items } = await at.json<{ items: { messageId: string }[] }>(`/messages?q=${control}`);
    return items[0]?.messageId ?? '';
  };
  const changesOf = async (control: string): Promise<Change[]> =>
    (await at.json<{ resources: Change[] }>(`/messages/${await idOf(control)}`)).resources;
  const textsOf = (changes: readonly Change[]): string[] =>
    changes.map(
      ({ reference, version, change, elements }) =>
        `${reference.split('/')[0]} ${version} ${change}${elements.map(({ element }) => ` ${element}`).join('')}`,
    );
  const ofPatient = async (control: string): Promise<string[]> =>
    textsOf((await changesOf(control)).filter(({ reference }) => reference.startsWith('Patient/')));

  test('is credited to the message that wrote the version, not to results before and after it', async () => {
    await send(admit('C-1', 0, '4711', 'Am Hof 1^^Bonn'));
    await send(result('C-2', 1, '4711', 'F-1'));
    await send(admit('C-3', 2, '4711', 'Unter den Linden 1^^Berlin'));
    await send(result('C-4', 3, '4711', 'F-2'));
    expect(await ofPatient('C-1')).toEqual([expect.stringMatching(/^Patient 1 created .*address/)]);
    expect(await ofPatient('C-2')).toEqual(['Patient 1 unchanged']);
    expect(await ofPatient('C-3')).toEqual(['Patient 2 changed address']);
    expect(await ofPatient('C-4')).toEqual(['Patient 2 unchanged']);
    const [change] = await changesOf('C-3');
    expect(change?.elements[0]).toMatchObject({
      fields: ['PID-11'],
      before: expect.stringContaining('Bonn'),
      after: expect.stringContaining('Berlin'),
    });
    const results = (await changesOf('C-4')).filter(({ reference }) => !reference.startsWith('Patient/'));
    expect(results.map(({ change: made }) => made)).toEqual(['created', 'created']);
    const origins = new Map(results.flatMap(({ elements }) => elements.map((each) => [each.element, each.fields])));
    expect(Object.fromEntries(origins)).toMatchObject({
      valueQuantity: ['OBX-5', 'OBX-6'],
      effectiveDateTime: ['OBR-7'],
      identifier: ['OBR-3'],
      subject: ['PID-3'],
      result: ['OBX'],
    });
    expect([...origins.values()].every((fields) => fields.length > 0)).toBe(true);
  });

  test('are its own versions where two messages of one second change one patient', async () => {
    await send(admit('S-1', 0, '4712', 'Am Hof 1^^Bonn'));
    await send(admit('S-2', 1, '4712', 'Am Hof 1^^Bonn', 'King'));
    await send(admit('S-3', 1, '4712', 'Am Markt 2^^Bonn'));
    const all = [...(await ofPatient('S-2')), ...(await ofPatient('S-3'))];
    expect(new Set(all.map((text) => text.split(' ')[1]))).toEqual(new Set(['2', '3']));
    expect(all.every((text) => text.includes('changed') && !text.includes('unchanged'))).toBe(true);
  });

  test('leave out the version that a FHIR client wrote between, although it sends meta.source back', async () => {
    await send(admit('F-1', 0, '4713'));
    const reference = (await changesOf('F-1'))[0]?.reference ?? '';
    const access = await getToken(at.gateway.oauthBaseUrl, at.key, {
      scope: 'system/Patient.read system/Patient.write',
    });
    const headers = { Authorization: `Bearer ${access}`, 'Content-Type': 'application/fhir+json' };
    const address = `${at.gateway.fhirBaseUrl}/fhir/${reference}`;
    const patient = (await (await fetch(address, { headers })).json()) as { meta: { source: string } };
    const put = await fetch(address, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ ...patient, telecom: [{ system: 'phone', value: '1' }] }),
    });
    expect(await put.json()).toMatchObject({ meta: { versionId: '2', source: patient.meta.source } });
    expect(await ofPatient('F-1')).toEqual([expect.stringMatching(/^Patient 1 created/)]);
    await send(admit('F-2', 1, '4713', 'Am Hof 1^^Bonn'));
    expect(await ofPatient('F-2')).toEqual(['Patient 3 changed address']);
  });

  test('include those of a replay after those of the first attempt', async () => {
    await send(admit('R-1', 0, '4714', 'Am Hof 1^^Bonn'));
    await send(admit('R-2', 1, '4714', 'Am Markt 2^^Bonn'));
    const messageId = await idOf('R-1');
    await at.json(`/messages/${messageId}/replay`, { apply: 'newest' });
    expect(await ofPatient('R-1')).toEqual([expect.stringMatching(/^Patient 1 created/)]);
    await at.json(`/messages/${messageId}/replay`, { apply: 'everything' });
    expect(await ofPatient('R-1')).toEqual([
      expect.stringMatching(/^Patient 1 created/),
      expect.stringMatching(/^Patient 3 changed address/),
    ]);
    expect(await ofPatient('R-2')).toEqual([expect.stringMatching(/^Patient 2 changed address/)]);
  });

  test('include the results that a merge moved, which the message that first sent them does not show', async () => {
    await send(result('M-1', 0, '4715', 'F-5'));
    await send(admit('M-2', 1, '4716'));
    await send(`${msh('ADT^A40^ADT_A39', 'M-3', 2)}EVN|A40|20261101080200+0100\r${pid('4716')}MRG|4715^^^EAST^MR\r`);
    expect(textsOf(await changesOf('M-1'))).toEqual([
      expect.stringMatching(/^Patient 1 created/),
      expect.stringMatching(/^DiagnosticReport 1 created/),
      expect.stringMatching(/^Observation 1 created/),
    ]);
    const moved = await changesOf('M-3');
    expect(textsOf(moved).filter((text) => !text.startsWith('Patient'))).toEqual([
      expect.stringMatching(/^DiagnosticReport 2 changed subject/),
      expect.stringMatching(/^Observation 2 changed subject/),
    ]);
    expect(
      textsOf(moved)
        .filter((text) => text.startsWith('Patient'))
        .every((text) => text.includes('2 changed')),
    ).toBe(true);
  });

  test('name the field of the merged patient', async () => {
    await send(admit('M-1', 0, '4721'));
    await send(result('M-2', 1, '4722', 'F-9'));
    await send(`${msh('ADT^A40^ADT_A39', 'M-3', 2)}EVN|A40|20261101080000+0100\r${pid('4721')}MRG|4722^^^EAST^MR\r`);
    const changes = await changesOf('M-3');
    const fieldsOf = (type: string, name: string) =>
      changes
        .filter(({ reference }) => reference.startsWith(`${type}/`))
        .flatMap(({ elements }) => elements.filter(({ element }) => element === name).map(({ fields }) => fields));
    expect(fieldsOf('Patient', 'link')).toEqual([['MRG-1'], ['MRG-1']]);
    expect(fieldsOf('Observation', 'subject')).toEqual([['MRG-1']]);
    expect(fieldsOf('DiagnosticReport', 'subject')).toEqual([['MRG-1']]);
  });

  test('name a version that is no longer kept instead of showing all elements as new', async () => {
    await send(admit('H-1', 0, '4717', 'Am Hof 1^^Bonn'));
    await send(admit('H-2', 1, '4717', 'Am Markt 2^^Bonn'));
    const reference = (await changesOf('H-1'))[0]?.reference ?? '';
    await at.db.client.query('delete from resource_history where site_id = $1 and id = $2', [
      at.site,
      reference.split('/')[1],
    ]);
    expect(await changesOf('H-1')).toMatchObject([{ version: 1, change: 'created', isForgotten: true, elements: [] }]);
    expect(await changesOf('H-2')).toMatchObject([{ version: 2, change: 'changed', isForgotten: true, elements: [] }]);
  });

  describe('the origin of each value', () => {
    interface Lineage {
      readonly comparedFrom: number;
      readonly values: readonly {
        readonly path: string;
        readonly value: string | null;
        readonly since: number | null;
        readonly fields: readonly string[];
        readonly replaced: string | null;
      }[];
      readonly versions: readonly {
        readonly version: number;
        readonly clientId: string | null;
        readonly keyName: string | null;
        readonly person: string | null;
        readonly message: { readonly controlId: string; readonly forgottenAt: string | null } | null;
      }[];
    }
    const lineageOf = (reference: string) => at.json<Lineage>(`/${reference}/lineage`);
    const referenceOf = async (control: string, type = 'Patient') =>
      (await changesOf(control)).find(({ reference }) => reference.startsWith(type))?.reference ?? '';
    /** `name[0].family Lovelace 1 L-1 PID-5`: the value, its version, its author and fields, and what it replaced. */
    const linesOf = ({ values, versions }: Lineage): string[] =>
      values.map(({ path, value, since, fields, replaced }) => {
        const { message, person, clientId } = versions.find(({ version }) => version === since) ?? {};
        const author = message?.controlId ?? person ?? clientId ?? '?';
        return [path, value, since, author, ...fields, ...(replaced === null ? [] : ['<', replaced])].join(' ');
      });
    const write = async (reference: string, change: object) => {
      const access = await getToken(at.gateway.oauthBaseUrl, at.key, {
        scope: 'system/Patient.read system/Patient.write',
      });
      const headers = { Authorization: `Bearer ${access}`, 'Content-Type': 'application/fhir+json' };
      const address = `${at.gateway.fhirBaseUrl}/fhir/${reference}`;
      const stored = (await (await fetch(address, { headers })).json()) as object;
      const put = await fetch(address, { method: 'PUT', headers, body: JSON.stringify({ ...stored, ...change }) });
      expect(put.status, await put.clone().text()).toBe(200);
    };

    test('is the message or FHIR write that last changed it, with its field and what it replaced', async () => {
      await send(admit('L-1', 0, '4731', 'Am Hof 1^^Bonn'));
      const reference = await referenceOf('L-1');
      await send(admit('L-2', 1, '4731', 'Am Markt 2^^Bonn'));
      await write(reference, { telecom: [{ system: 'phone', value: '1.50' }], gender: 'other' });
      // It says the same again.
      await send(admit('L-3', 2, '4731', 'Am Markt 2^^Bonn', 'King').replace('|F|', '||'));
      const key = at.key.clientId;
      const lineage = await lineageOf(reference);
      expect(linesOf(lineage)).toEqual(
        expect.arrayContaining([
          'name[0].family "King" 4 L-3 PID-5 < "Lovelace"',
          'name[0].given[0] "Ada" 1 L-1 PID-5',
          'birthDate "1970-12-31" 1 L-1 PID-7',
          'address[0].line[0] "Am Markt 2" 2 L-2 PID-11 < "Am Hof 1"',
          'address[0].city "Bonn" 1 L-1 PID-11',
          `telecom[0].value "1.50" 3 ${key}`,
          `gender "other" 3 ${key} < "female"`,
        ]),
      );
      expect(lineage.versions.find(({ version }) => version === 3)).toMatchObject({
        keyName: expect.any(String),
        message: null,
      });
      const before = await at.json<Lineage>(`/${reference}/lineage?version=2`);
      expect(linesOf(before)).toContain('gender "female" 1 L-1 PID-8');
    });

    test('is the last message where a value was deleted and sent again', async () => {
      await send(admit('B-1', 0, '4732', 'Am Hof 1^^Bonn'));
      await send(admit('B-2', 1, '4732', '""'));
      await send(admit('B-3', 2, '4732', 'Am Hof 1^^Bonn'));
      expect(linesOf(await lineageOf(await referenceOf('B-1')))).toContain('address[0].city "Bonn" 3 B-3 PID-11');
    });

    test('names a merge, the person who undid it, and in the audit both patients', async () => {
      await send(admit('G-1', 0, '4733'));
      await send(result('G-2', 1, '4734', 'F-11'));
      await send(`${msh('ADT^A40^ADT_A39', 'G-3', 2)}EVN|A40|20261101080000+0100\r${pid('4733')}MRG|4734^^^EAST^MR\r`);
      const observation = await referenceOf('G-2', 'Observation');
      const [kept, gone] = [await referenceOf('G-1'), await referenceOf('G-2')];
      expect(linesOf(await lineageOf(observation))).toEqual(
        expect.arrayContaining([
          `subject.reference "${kept}" 2 G-3 MRG-1 < "${gone}"`,
          'valueQuantity.value 13.1 1 G-2 OBX-5 OBX-6',
        ]),
      );
      const { rows } = await at.db.client.query<{ patients: string[] }>(
        `select patients from audit where action = 'read' and ids[1] = $1 order by at desc limit 1`,
        [observation.split('/')[1]],
      );
      expect(new Set(rows[0]?.patients)).toEqual(new Set([kept, gone].map((each) => each.split('/')[1])));
      const { items } = await at.json<{ items: { mergeId: string }[] }>('/merges');
      const { state } = await at.json<{ state: string }>(`/merges/${items[0]?.mergeId}`);
      await at.json(`/merges/${items[0]?.mergeId}/undo`, { reason: 'other person', state });
      expect(linesOf(await lineageOf(observation)).join('\n')).toContain(
        `subject.reference "${gone}" 3 script (script) < "${kept}"`,
      );
    });

    test('says when the text of the message was deleted, and where earlier versions are missing', async () => {
      await send(admit('O-1', 0, '4735', 'Am Hof 1^^Bonn'));
      await send(admit('O-2', 1, '4735', 'Am Markt 2^^Bonn'));
      const reference = await referenceOf('O-1');
      await at.db.client.query('select hl7_messages_forget($1, $2)', [at.site, [await idOf('O-2')]]);
      const { versions } = await lineageOf(reference);
      expect(versions.map(({ message }) => message?.forgottenAt ?? null)).toEqual(
        versions.map(({ version }) => (version === 2 ? expect.stringMatching(/^20.*Z$/) : null)),
      );
      await at.db.client.query('delete from resource_history where site_id = $1 and id = $2', [
        at.site,
        reference.split('/')[1],
      ]);
      const cut = await lineageOf(reference);
      expect(cut.comparedFrom).toBe(2);
      expect(cut.versions).toEqual([]);
      expect(cut.values.every(({ since }) => since === null)).toBe(true);
    });

    test('is not found for other types and ids', async () => {
      for (const path of ['/Patient/x/lineage', '/Nothing/00000000-0000-4000-8000-000000000000/lineage'])
        expect((await at.api('GET', path)).status).toBe(404);
    });
  });
});
