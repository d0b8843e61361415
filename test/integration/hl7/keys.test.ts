/** One database, several keys: what a message finds, and whether it was seen, is of the key that it is of and of no other. */
import { describe, expect, test } from 'vitest';

import { cutMessage } from '../../../edge/hl7/ingest/cut-documents.ts';
import { ingest } from '../../../edge/hl7/ingest/ingest.ts';
import { createRefusals } from '../../../edge/http/refusals.ts';
import { noteNoKey } from '../../../edge/hl7/mllp/routes.ts';
import { noteRefusals } from '../../../edge/store/refusal.ts';
import type { Sender } from '../../../edge/hl7/ingest/sender/sender.ts';
import { createApiKey, type ApiKeyOptions } from '../../stack/services/seed.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { callerOf } from '../../stack/tools/caller.ts';

const db = await useTestDatabase();

const newSite = (key: Partial<ApiKeyOptions> = {}) => createHl7Site({ database: db, key });
const PID = 'PID|1||S1^^^HOSP^MR||Doe';

const send = async ({ deps }: Hl7Site, sender: Sender, message: string) =>
  ingest(deps, {
    sender,
    ...(await cutMessage(bytesOf(message), Infinity)),
    source: { kind: 'mllp', address: '198.51.100.9' },
    requestId: 'request-1',
  });

describe('an address that several keys allow', () => {
  test('the patient of another site’s key is not found, with the same identifier', async () => {
    const mllp = { protocols: ['hl7', 'hl7-mllp'], allowedIps: ['198.51.100.0/24'] };
    const [named, other] = [await newSite({ ...mllp, senderApplication: 'LAB' }), await newSite()];
    // Saved before it affected another key.
    await db.client.query("update api_key set protocols = '{hl7,hl7-mllp}', allowed_ips = '{*}' where client_id = $1", [
      other.clientId,
    ]);
    for (const each of [named, other]) await each.send(`${msh('ADT^A01')}\n${PID}^Jane`);
    const sent = await send(
      named,
      { kind: 'address', sidecar: 'sidecar-1', address: '198.51.100.9', tlsSubject: undefined },
      `${msh('ADT^A08')}\n${PID}^Janet`,
    );
    expect(sent).toMatchObject({ status: 'stored', outcome: 'AA', site: named.site, clientId: named.clientId });
    expect(await named.resources('Patient')).toMatchObject([{ version: 2, name: [{ given: ['Janet'] }] }]);
    expect(await other.resources('Patient')).toMatchObject([{ version: 1, name: [{ given: ['Jane'] }] }]);
  });
});

describe('the same bytes', () => {
  test('are new from another key, of the same site and of another', async () => {
    const [site, other] = [await newSite(), await newSite()];
    const second = await createApiKey(db.client, { site: site.site });
    const message = `${msh('ADT^A01')}\n${PID}^Jane`;
    expect(await site.send(message)).toMatchObject({ status: 'stored' });
    const caller = callerOf(site.site, second.clientId);
    expect(await send(site, { kind: 'caller', caller }, message)).toMatchObject({ status: 'stored', outcome: 'AA' });
    expect(await other.send(message)).toMatchObject({ status: 'stored', outcome: 'AA' });
    expect(await site.send(message)).toMatchObject({ status: 'seen' });
    expect(await Promise.all([site, other].map(async (each) => (await each.messages()).length))).toEqual([2, 1]);
  });
});

test('refusals of one sender without end are one row and one statement', async () => {
  const site = await newSite();
  const works: Promise<unknown>[] = [];
  const written: number[] = [];
  const behind = { now: () => Date.now(), background: (work: Promise<unknown>) => void works.push(work) };
  const note = createRefusals(behind, 5_000, (refusals) => {
    written.push(refusals.length);
    return site.deps.database.run(noteRefusals(refusals));
  })('mllp');
  const { clientId } = site;
  const refusal = { refused: 'no-key', reason: '', explainTo: [{ clientId, site: site.site, reason: 'x' }] } as const;
  for (let n = 0; n < 10_000; n += 1) noteNoKey(site.deps, note, refusal, '192.0.2.1', `request-${n}`);
  await Promise.all(works);
  const { rows } = await db.client.query(
    'select answer, code, reason, requests::int, request_ids[1] as request_id from refusal where client_id = $1',
    [clientId],
  );
  expect(written).toEqual([1]);
  expect(rows).toEqual([{ answer: 'AR', code: 'no-key', reason: 'x', requests: 10_000, request_id: 'request-9999' }]);
});
