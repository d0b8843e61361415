/** Senders of others, unchanged, through the sidecar into the database: they accept our ACKs, original and enhanced. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { useTestDatabase } from '../stack/tools/database.ts';
import { startGateway, type Gateway } from '../stack/tools/gateway.ts';
import { createApiKey, createSite } from '../stack/services/seed.ts';
import { startSidecar, type SidecarProcess } from '../stack/services/sidecar.ts';
import { isInstalled, PEERS } from './mllp-peers.ts';

/** MSH from field 12 on. */
const MODES = [
  { mode: 'original', asks: '2.5.1', code: 'AA' },
  { mode: 'enhanced', asks: '2.5.1|||AL|NE', code: 'CA' },
  { mode: 'enhanced, application only', asks: '2.5.1|||NE|AL', code: 'AA' },
  { mode: 'enhanced, both', asks: '2.5.1|||AL|AL', code: 'AA' },
  { mode: 'original, of 2.3', asks: '2.3', code: 'AA' },
];

const header = (type: string, control: string, asks: string): string =>
  `MSH|^~\\&|PEER|EAST|GW|GW|20261101083000+0100||${type}|${control}|P|${asks}`;

const pid = (mrn: string): string => `PID|1||${mrn}^^^EAST^MR||Peer^Ada||19701231|F`;

const adt = (control: string, mrn: string, asks: string): string =>
  [header('ADT^A04^ADT_A01', control, asks), 'EVN|A04|20261101083000+0100', pid(mrn), 'PV1|1|O', ''].join('\r');

const oru = (control: string, mrn: string, asks: string): string =>
  [
    header('ORU^R01^ORU_R01', control, asks),
    pid(mrn),
    `OBR|1|P-${control}|F-${control}|24326-1^Electrolytes^LN|||20261101`,
    'OBX|1|NM|2951-2^Sodium^LN||140.10|mmol/L|||||F',
    '',
  ].join('\r');

let gateway: Gateway;
let sidecar: SidecarProcess;

const database = await useTestDatabase();
beforeAll(async () => {
  gateway = await startGateway({ runtime: 'workerd', database });
  const site = await createSite(database.client);
  await createApiKey(database.client, { site, protocols: ['hl7-mllp'], allowedIps: ['127.0.0.1'] });
  sidecar = await startSidecar({ edgeUrl: gateway.url, privateKey: gateway.secrets.sidecarPrivateKey });
});

afterAll(async () => {
  await sidecar?.stop();
  await gateway?.stop();
});

const installed = await Promise.all(PEERS.map(isInstalled));

describe.each(PEERS.map((peer, index) => ({ peer, name: peer.name, index })))('$name', ({ peer, index }) => {
  test.for(MODES)('ADT and ORU, $mode: $code', async ({ mode, asks, code }, { skip }) => {
    skip(!installed[index], `${peer.name} is not installed`);
    const id = `${index}${MODES.findIndex((each) => each.mode === mode)}`;
    const messages = [
      adt(`P${id}A`, `MRN-${id}`, asks),
      oru(`P${id}B`, `MRN-${id}`, asks),
      adt(`P${id}C`, `MRN-${id}`, asks),
    ];
    expect(await peer.send(sidecar, messages)).toEqual([`${code} P${id}A`, `${code} P${id}B`, `${code} P${id}C`]);
    const { rows } = await database.client.query<{ control_id: string }>(
      `select control_id from hl7_message where control_id like $1 and outcome = 'AA' order by control_id`,
      [`P${id}_`],
    );
    expect(rows.map((row) => row.control_id)).toEqual([`P${id}A`, `P${id}B`, `P${id}C`]);
  });
});
