/** Settings of the site and of the key, the dry run and the replay: what an administrator can do about messages. */
import { describe, expect, test } from 'vitest';

import { writeKey } from '../../../edge/admin/keys/statements.ts';
import { settingsOf } from '../../../edge/hl7/ingest/sender/settings.ts';
import { changesOf } from '../../../edge/store/admin-key.ts';
import { releaseRules, saveRulesDraft } from '../../../edge/store/admin-rules.ts';
import { read } from '../../../edge/store/sql.ts';
import { withLimits } from '../../../edge/store/time-limits.ts';
import { dryRun } from '../../../edge/hl7/ingest/replay/dry-run.ts';
import { reprocess } from '../../../edge/hl7/ingest/replay/replay.ts';
import { useTestDatabase } from '../../stack/tools/database.ts';
import { ADA, createHl7Site, type Hl7Site } from '../../stack/tools/hl7-site.ts';
import { bytesOf, msh } from '../../stack/tools/hl7-text.ts';
import { lockWaits } from '../../stack/tools/lock-waits.ts';
import { until } from '../../stack/services/until.ts';

const db = await useTestDatabase();

const newSite = (options: Parameters<typeof createHl7Site>[0] = {}) => createHl7Site({ ...options, database: db });
const keySetting = (site: Hl7Site, column: string, value: unknown) =>
  db.client.query(`update api_key set ${column} = $1 where client_id = $2`, [value, site.clientId]);
const PID = 'PID|1||S1^^^HOSP^MR||Doe^Jane';

describe('settings', () => {
  test('the judging settings of a key and its site reach the mapping, else the defaults apply', async () => {
    const { clientId, database, ...site } = await newSite();
    const settings = async () => {
      const [row] = await database.run(
        read<{ sender: string }>`select hl7_sender(${site.site}::uuid, ${clientId}, '', '', '', '') as sender`,
      );
      if (row === undefined) throw new Error('no such key');
      return settingsOf(JSON.parse(row.sender));
    };
    expect(await settings()).toMatchObject({
      hl7_default_authority: null,
      hl7_identity_check: 'refuse-results',
      hl7_strict: false,
      hl7_unsupported_types: 'refuse',
      hl7_accept_ack: false,
      hl7_information: true,
      codeSystems: new Map(),
      identifyingTypes: new Set(),
      placeholders: new Set(),
      placeholderBirthDates: new Set(),
      usCore: false,
    });
    await db.client.query(
      `update api_key set hl7_default_authority = 'HOSP', hl7_identity_check = 'warn', hl7_strict = true,
         hl7_unsupported_types = 'keep', hl7_accept_ack = true, hl7_information = false where client_id = $1`,
      [clientId],
    );
    await db.client.query(
      `update site set code_systems = '{"99lab":"urn:x:lab"}', identifying_types = '{NH}', placeholders = '{NoMrn,"a b"}',
         placeholder_birth_dates = '{1899-12-30}', us_core = true where site_id = $1`,
      [site.site],
    );
    expect(await settings()).toMatchObject({
      hl7_default_authority: 'HOSP',
      hl7_identity_check: 'warn',
      hl7_strict: true,
      hl7_unsupported_types: 'keep',
      hl7_accept_ack: true,
      hl7_information: false,
      codeSystems: new Map([['99LAB', 'urn:x:lab']]),
      identifyingTypes: new Set(['NH']),
      placeholders: new Set(['NOMRN', 'A B']),
      placeholderBirthDates: new Set(['1899-12-30']),
      usCore: true,
    });
  });

  test('released rules count for the next message, and a change of the key keeps them', async () => {
    const { clientId, database, site } = await newSite();
    const sender = async () => {
      const [row] = await database.run(
        read<{ sender: string }>`select hl7_sender(${site}::uuid, ${clientId}, '', '', '', '') as sender`,
      );
      return JSON.parse(row?.sender ?? '');
    };
    const before = await sender();
    expect(before.key.hl7_rules).toBeNull();
    const rules = [{ verb: 'trim', path: 'PID-8' }] as const;
    expect(await database.run(saveRulesDraft(site, clientId, 0, rules, 'Ada'))).toEqual([{ outcome: 'done' }]);
    expect(await sender()).toEqual(before);

    expect(await database.run(releaseRules(site, clientId, 1, 1, 'Ada', 'a reason'))).toEqual([{ outcome: 'done' }]);
    const released = await sender();
    expect(released.key.hl7_rules).toEqual({ version: 1, rules });
    expect(released.settings_state).not.toBe(before.settings_state);

    const record = { name: 'Another name' };
    const change = { site, clientId, expected: [], by: 'Ada', record, ownedThumbprints: null, foreignThumbprints: [] };
    expect(await database.run(writeKey(change))).toMatchObject([{ outcome: 'updated' }]);
    expect((await sender()).key.hl7_rules).toEqual({ version: 1, rules });
    const [history] = await database.run(changesOf(site, clientId, null, 1));
    expect(`${history?.before}${history?.after}`).not.toContain('PID-8');

    expect(await database.run(releaseRules(site, clientId, null, 2, 'Ada', 'off'))).toEqual([{ outcome: 'done' }]);
    expect((await sender()).key.hl7_rules).toBeNull();
  });

  test('times without an offset are of the key’s time zone, else of the site’s', async () => {
    const site = await newSite({ timeZone: 'America/New_York' });
    const message = (id: string) =>
      `${msh('ADT^A01').replace('+0100', '')}\nPID|1||${id}||||||||||||||||||||||||||202607010930`;
    await site.send(message('Z1'));
    await keySetting(site, 'hl7_time_zone', 'Asia/Kolkata');
    await site.send(message('Z2'));
    expect((await site.resources('Patient')).map(({ deceasedDateTime }) => deceasedDateTime)).toEqual([
      '2026-07-01T09:30:00-04:00',
      '2026-07-01T09:30:00+05:30',
    ]);
  });

  test('processing ids: the site’s, or the key’s own', async () => {
    const site = await newSite({ processingIds: ['P', 'T'] });
    const as = (id: string) => `${msh('ADT^A01').replace('|P|2.5.1', `|${id}|2.5.1`)}\n${PID}`;
    expect(await site.send(as('T'))).toMatchObject({ outcome: 'AA' });
    expect(await site.send(as('D'))).toMatchObject({ outcome: 'AR', errors: ['E 202 MSH^1^11'] });
    await keySetting(site, 'hl7_processing_ids', ['D']);
    expect(await site.send(as('D'))).toMatchObject({ outcome: 'AA' });
    expect(await site.send(as('P'))).toMatchObject({ outcome: 'AR' });
  });

  test('the default character set applies to messages without MSH-18, also to their identifiers', async () => {
    const site = await newSite();
    await keySetting(site, 'hl7_default_charset', '8859/1');
    const latin1 = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll('\n', '\r'), 'latin1'));
    const message = (control: string) => latin1(`${msh('ADT^A01', control)}\nPID|1||ÄÖ1^^^HOSP^MR||Müller^Jürgen`);
    expect(await site.send(message('L1'))).toMatchObject({ outcome: 'AA', errors: [] });
    expect(await site.send(message('L2'))).toMatchObject({ outcome: 'AA', errors: [] });
    expect(await site.resources('Patient')).toMatchObject([
      { name: [{ family: 'Müller' }], identifier: [{ value: 'ÄÖ1' }] },
    ]);
  });

  test('a namespace that is named later still finds its patients', async () => {
    const site = await newSite();
    await site.send(`${msh('ADT^A01')}\n${PID}`);
    await db.client.query('update site set assigning_authorities = $1 where site_id = $2', [
      { HOSP: 'urn:example:h' },
      site.site,
    ]);
    await site.send(`${msh('ADT^A08')}\n${PID}`);
    await site.send(`${msh('ADT^A08')}\nPID|1||S1^^^OTHER^MR||Roe^Rick`);
    expect(await site.resources('Patient')).toMatchObject([
      { identifier: [{ system: 'urn:example:h', value: 'S1' }], name: [{ family: 'Doe' }] },
      { identifier: [{ value: 'S1', assigner: { display: 'OTHER' } }], name: [{ family: 'Roe' }] },
    ]);
  });
});

describe('dry run', () => {
  test('shows the effects of a message without storing them', async () => {
    const site = await newSite();
    await site.send(`${msh('ADT^A01')}\n${PID}`);
    const before = [await site.messages(), await site.resources('Patient')];
    const [patient] = await site.resources('Patient');
    const bytes = bytesOf(
      `${msh('ORU^R01')}\n${PID}\nOBR|1||F1|1^T^L|||20260101||||||||||||||||||F\nOBX|1|NM|1^T^L||5.0||||||F`,
    );
    const result = await dryRun(site.deps, site, bytes, 'request-2');
    expect(result.outcome).toBe('AA');
    expect(new TextDecoder().decode(result.ack ?? new Uint8Array())).toContain('MSA|AA|');
    expect(result.resources).toMatchObject([
      { resourceType: 'Patient', id: patient?.id },
      { resourceType: 'Observation', subject: { reference: `Patient/${patient?.id}` } },
      { resourceType: 'DiagnosticReport' },
    ]);
    expect([await site.messages(), await site.resources('Patient')]).toEqual(before);
  });

  test('reports faults; does not find a key of another site', async () => {
    // As the owner, so that it is not the database alone that does not find it.
    const site = await newSite({ asOwner: true });
    const other = await newSite();
    const bytes = bytesOf(`${msh('ADT^A01')}\nPID|1`);
    expect(await dryRun(site.deps, site, bytes, 'request-3')).toMatchObject({ outcome: 'AE', resources: [] });
    for (const key of [
      { site: other.site, clientId: site.clientId },
      { site: site.site, clientId: 'svc-00000000-0000-4000-8000-000000000000' },
    ]) {
      await expect(dryRun(site.deps, key, bytes, 'r')).rejects.toMatchObject({ kind: 'not-found' });
    }
  });
});

describe('replay', () => {
  const attemptsOf = async ({ site: id }: Hl7Site): Promise<string[]> => {
    const { rows } = await db.client.query<{ text: string }>(
      `select concat_ws(' ', number, why, outcome, coalesce(actor, '')) as text from hl7_attempt
        where site_id = $1 order by message_id, number`,
      [id],
    );
    return rows.map(({ text }) => text);
  };

  test('maps a rejected message again after its cause was put right; its retransmission gets the new ACK', async () => {
    const site = await newSite();
    const message = `${msh('ADT^A01').replace('|P|2.5.1', '|T|2.5.1')}\n${PID}`;
    expect(await site.send(message)).toMatchObject({ outcome: 'AR' });
    await keySetting(site, 'hl7_processing_ids', ['T']);
    const { rows } = await db.client.query('select message_id from hl7_message where site_id = $1', [site.site]);
    const replayed = await reprocess(
      site.deps,
      site.site,
      rows[0].message_id,
      { why: 'replayed', actor: 'Ada (1)', jobId: null, by: ADA },
      'request-4',
    );
    expect(replayed).toMatchObject({ outcome: 'AA', status: 'stored' });
    expect(await site.resources('Patient')).toHaveLength(1);
    expect(await site.messages()).toMatchObject([{ outcome: 'AA' }]);
    expect(await site.send(message)).toMatchObject({ status: 'seen', outcome: 'AA' });

    const again = await reprocess(
      site.deps,
      site.site,
      rows[0].message_id,
      { why: 'replayed', actor: 'Bob (2)', jobId: null, by: ADA },
      'request-5',
    );
    expect(again.outcome).toBe('AA');
    expect(await site.resources('Patient')).toMatchObject([{ version: 1 }]);
    // The sender gets its first answer again, independent of later replays.
    expect(await site.send(message)).toMatchObject({ status: 'seen', ack: replayed.ack });
    expect(await attemptsOf(site)).toEqual(['1 received AR ', '2 replayed AA Ada (1)', '3 replayed AA Bob (2)']);
  });

  test('that is rejected does not change the AA that the sender gets', async () => {
    const site = await newSite();
    const message = `${msh('ADT^A01')}\n${PID}`;
    const accepted = await site.send(message);
    await keySetting(site, 'hl7_processing_ids', ['T']);
    const { rows } = await db.client.query('select message_id from hl7_message where site_id = $1', [site.site]);
    expect(
      await reprocess(
        site.deps,
        site.site,
        rows[0].message_id,
        { why: 'replayed', actor: 'Ada (1)', jobId: null, by: ADA },
        'r',
      ),
    ).toMatchObject({ outcome: 'AR' });
    expect(await site.messages()).toMatchObject([{ outcome: 'AR' }]);
    expect(await site.send(message)).toMatchObject({ status: 'seen', outcome: 'AA', text: accepted.text });
  });

  test('and resends immediately gets one AA for all attempts, which run one after another', async () => {
    const site = await newSite();
    // It is older and changes nothing, so that neither a version nor an order distinguishes the attempts.
    const message = `${msh('ADT^A01').replace('|P|2.5.1', '|T|2.5.1').replace('20260102', '20250102')}\n${PID}`;
    await site.send(`${msh('ADT^A01')}\n${PID}`);
    await site.send(message);
    await keySetting(site, 'hl7_processing_ids', ['T']);
    const { rows } = await db.client.query(`select message_id from hl7_message where site_id = $1 and outcome = 'AR'`, [
      site.site,
    ]);
    // All have looked before one has stored.
    await db.client.query('begin');
    await db.client.query('select from hl7_message where site_id = $1 for update', [site.site]);
    // They wait as long as it takes this machine to bring them all to the lock. None has a cached snapshot, whose commit waits for the lock at once.
    const patient = {
      ...site.deps,
      snapshots: undefined,
      database: withLimits(site.deps.database, { answerMs: 60_000, workMs: 50_000, lockMs: 50_000 }),
    };
    const replayed = reprocess(
      patient,
      site.site,
      rows[0].message_id,
      { why: 'replayed', actor: 'Ada (1)', jobId: null, by: ADA },
      'r',
    );
    const sending = Array.from({ length: 3 }, () => site.send(message, patient));
    await until('all four wait', async () => (await lockWaits(db.client)) === 4, 45_000);
    await db.client.query('commit');
    const [, ...sent] = await Promise.all([replayed, ...sending]);
    expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
    const attempts = (await attemptsOf(site)).map((attempt) => attempt.slice(2));
    expect(attempts.filter((attempt) => attempt === 'replayed AA Ada (1)')).toHaveLength(1);
    expect(attempts.filter((attempt) => attempt === 'resent AA ').length).toBeLessThan(2);
    expect(await site.resources('Patient')).toMatchObject([{ version: 1 }]);
  });

  test('answers not found for another site’s message', async () => {
    const site = await newSite();
    const other = await newSite();
    await site.send(`${msh('ADT^A01')}\n${PID}`);
    const { rows } = await db.client.query('select message_id from hl7_message where site_id = $1', [site.site]);
    await expect(
      reprocess(
        site.deps,
        other.site,
        rows[0].message_id,
        { why: 'replayed', actor: 'Ada (1)', jobId: null, by: ADA },
        'r',
      ),
    ).rejects.toMatchObject({
      kind: 'not-found',
    });
  });
});
