/** Messages, and the reading of them, are audited with the site and the patients concerned. */
import { describe, expect, test } from 'vitest';

import { dryRun } from '../../../edge/hl7/ingest/replay/dry-run.ts';
import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { ingest } from '../../../edge/hl7/ingest/ingest.ts';
import { previewReplay, reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import { audited, type AuditActor } from '../../../edge/store/audit.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { ADA, createHl7Site } from '../../stack/tools/hl7-site.ts';

const site = await createHl7Site();

interface Row {
  readonly actor_kind: string;
  readonly actor: string | null;
  readonly client_id: string | null;
  readonly action: string;
  readonly types: string[];
  readonly patients: string[];
}

/** The rows since the last time that this was asked, in order. */
let seen = 0;
async function newRows(): Promise<Row[]> {
  const { rows } = await site.db.client.query<Row>(
    `select actor_kind, actor, client_id, action, types, patients::text[] as patients from audit order by at offset $1`,
    [seen],
  );
  seen += rows.length;
  return rows;
}

const adt = (mrn: string, more = '', event = 'ADT^A04') =>
  `${msh(event)}\nPID|1||${mrn}^^^HOSP^MR||Audit^Ada||19800102|F${more}`;
const oru = (mrn: string) =>
  `${msh('ORU^R01')}\nPID|1||${mrn}^^^HOSP^MR||Audit^Ada||19800102|F\nOBR|1||F-${mrn}|24323-8^Panel^LN|||202601010800+0000||||||||||||||||||F\nOBX|1|NM|2345-7^Glucose^LN||95|mg/dL|||||F`;

const patientOf = async (mrn: string): Promise<string> => {
  const patients = await site.resources('Patient');
  return patients.find((patient) => JSON.stringify(patient).includes(`"${mrn}"`))?.id ?? '';
};

const messageIds = async (): Promise<string[]> => {
  const { rows } = await site.db.client.query<{ id: string }>(
    'select message_id as id from hl7_message order by message_id',
  );
  return rows.map(({ id }) => id);
};

const PERSON: AuditActor = { ...ADA, clientId: null, requestId: 'request-of-ada' };
const asAda = () => ({ ...site.deps, database: audited(site.deps.database, site.site, PERSON) });

describe('messages', () => {
  test('a message is a row with the resources it made and their patient', async () => {
    expect((await site.send(oru('A-1'))).outcome).toBe('AA');
    expect(await newRows()).toEqual([
      {
        actor_kind: 'key',
        actor: null,
        client_id: site.clientId,
        action: 'message',
        types: ['DiagnosticReport', 'Hl7Message', 'Observation', 'Patient'],
        patients: [await patientOf('A-1')],
      },
    ]);
  });

  test('a rejected message is a row without a patient, and a message that was stored already adds no row', async () => {
    expect((await site.send(`${msh('ADT^A04')}\nPID|1`)).outcome).toBe('AE');
    expect(await newRows()).toMatchObject([{ action: 'message', types: ['Hl7Message'], patients: [] }]);
    const text = adt('A-2');
    await site.send(text);
    expect(await newRows()).toHaveLength(1);
    expect((await site.send(text)).status).toBe('seen');
    expect(await newRows()).toEqual([]);
  });

  test('a merge concerns both patients, and each resource that moves from one to the other', async () => {
    await site.send(oru('M-1'));
    await site.send(adt('M-2'));
    await newRows();
    expect((await site.send(adt('M-2', '\nMRG|M-1^^^HOSP^MR', 'ADT^A40'))).outcome).toBe('AA');
    const [row, ...more] = await newRows();
    expect(more).toEqual([]);
    expect(row?.patients).toEqual([await patientOf('M-1'), await patientOf('M-2')].toSorted());
    expect(row?.types).toEqual(['DiagnosticReport', 'Hl7Message', 'Observation', 'Patient', 'Patient']);
  });

  test('a message from a sidecar is recorded as the sidecar’s for the key', async () => {
    const { clientId } = site;
    await site.db.client.query(
      `update api_key set protocols = '{hl7,hl7-mllp}', allowed_ips = '{192.0.2.9}' where client_id = $1`,
      [clientId],
    );
    const stored = await ingest(site.deps, {
      sender: { kind: 'address', address: '192.0.2.9', tlsSubject: undefined, sidecar: 'sidecar-1' },
      ...(await cutMessage(bytesOf(adt('A-3')), Infinity)),
      source: { kind: 'mllp', address: '192.0.2.9' },
      requestId: 'request-of-a-sidecar',
    });
    expect(stored).toMatchObject({ status: 'stored' });
    expect(await newRows()).toMatchObject([{ actor_kind: 'sidecar', actor: 'sidecar-1', client_id: clientId }]);
  });

  test('the actor of a replay is the person, and the actor of a retry is the gateway', async () => {
    const [messageId = ''] = await messageIds();
    const attempt = { why: 'replayed', actor: 'Ada (1)', jobId: null } as const;
    await reprocess(site.deps, site.site, messageId, { ...attempt, by: ADA }, 'request-of-ada');
    const by = { kind: 'gateway', name: null, address: null } as const;
    await reprocess(site.deps, site.site, messageId, { ...attempt, by }, 'request-unknown');
    expect(await newRows()).toMatchObject([
      { action: 'message-replayed', actor_kind: 'person', actor: '1', patients: [await patientOf('A-1')] },
      { action: 'message-replayed', actor_kind: 'gateway', actor: null },
    ]);
  });
});

describe('a preview', () => {
  test('a preview of a replay shows the message and what is stored', async () => {
    const [messageId = ''] = await messageIds();
    await previewReplay(asAda(), site.site, messageId, 'request-of-ada');
    const [row, ...more] = await newRows();
    expect(more).toEqual([]);
    expect(row).toMatchObject({ action: 'message-viewed', actor: '1', patients: [await patientOf('A-1')] });
    expect(row?.types).toContain('Hl7Message');
  });

  test('the workbench shows stored data of a patient only for a stored message', async () => {
    const known = adt('W-1').replace('|F', '|F|||1 Secret Street^^Town||+431234567');
    await site.send(known);
    const id = await patientOf('W-1');
    await newRows();
    const shownFor = async (text: string): Promise<string> => {
      const { outcome, resources } = await dryRun(asAda(), site, bytesOf(text), 'request-of-ada');
      expect(outcome).toBe('AA');
      return JSON.stringify(resources);
    };
    const guessed = await shownFor(`${msh('ADT^A04')}\nPID|1||W-1^^^HOSP^MR||Audit^Ada`);
    expect(guessed).toContain(id);
    expect(guessed).not.toMatch(/Secret|1234567|1980/);
    expect(await newRows()).toMatchObject([{ action: 'workbench', actor: '1', patients: [id] }]);
    expect(await shownFor(known)).toMatch(/Secret/);
    // As it is copied from a screen.
    expect(await shownFor(known.replaceAll('\r', '\n').trim())).toMatch(/Secret/);
    expect(await newRows()).toHaveLength(2);
    expect(await shownFor(adt('STRANGER'))).toContain('STRANGER');
    expect(await newRows()).toEqual([]);
  });
});
