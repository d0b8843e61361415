/** Checks the MLLP sidecars: their last calls, their clocks, and rejected calls. */
import type { Config } from '../../config.ts';
import { SIDECAR_SILENT_MS } from '../../alert-kinds.ts';
import type { Database } from '../../deps.ts';
import { type SidecarRow, sidecarsSeen, rejectedSidecars, type RejectedSidecarRow } from '../../store/sidecar.ts';
import { counted } from '../web/counted.ts';
import { bad, doubtful, type Finding, good } from './finding.ts';

/** Half of the tolerance (edge/hl7/mllp/sidecar-token.ts), so that there is time to set the clock. */
const CLOCK_OFF_SECONDS = 15;

const off = (seconds: number): string => `${Math.abs(seconds)} s ${seconds < 0 ? 'ahead' : 'behind'}`;

const SET_THE_CLOCK = 'set the clock of its machine (NTP) or of the gateway’s: the gateway rejects it beyond 30 s';

/** Its own report. */
const reportOf = ({ version, connections }: SidecarRow): string =>
  version === null || connections === null ? '' : `; version ${version}, ${counted(connections, 'connection')} open`;

function calling(row: SidecarRow, nowMs: number): Finding {
  const { issuer, last_seen: at, clock_seconds: clock } = row;
  const subject = `sidecar ${issuer}`;
  const silentMs = nowMs - Date.parse(at);
  const minutes = Math.max(0, Math.floor(silentMs / 60_000));
  if (silentMs > SIDECAR_SILENT_MS)
    return bad(
      subject,
      `silent for ${minutes} minutes`,
      'see its /readyz and its log; a removed sidecar is listed for seven days',
    );
  const called = `called ${minutes === 0 ? 'within a minute' : `${minutes} minutes ago`}`;
  if (clock === null) return good(subject, `${called}${reportOf(row)}`);
  return Math.abs(clock) > CLOCK_OFF_SECONDS
    ? bad(subject, `${called}; its clock is ${off(clock)}${reportOf(row)}`, SET_THE_CLOCK)
    : good(subject, `${called}; its clock is right${reportOf(row)}`);
}

/** Any client can call with any key, so a person must decide whether it was a sidecar of the deployment. */
const stranger = ({ kid, source_address: from }: RejectedSidecarRow): Finding =>
  doubtful(
    'sidecar key',
    `a sidecar called from ${from} with ${kid === null ? 'a key' : `the key ${kid}`} that is not in MLLP_SIDECAR_KEYS`,
    'if it is your sidecar, add its public key to MLLP_SIDECAR_KEYS; if not, do nothing: the call was rejected',
  );

export async function checkSidecars(
  { INTEGRATION_HL7_MTTP_DOMAIN: domain, MLLP_SIDECAR_KEYS: keys }: Config,
  database: Database,
  nowMs: number,
): Promise<Finding[]> {
  const [seen, rejected] = await database.batch([sidecarsSeen(), rejectedSidecars()] as const);
  const strangers = rejected.filter(({ reason }) => reason === 'unknown-key').map(stranger);
  if (domain === undefined) return [good('sidecars', 'MLLP is not offered'), ...strangers];
  if (keys === undefined) {
    const next = 'npm run -s keys -- sidecar; MLLP_SIDECAR_KEYS';
    return [bad('sidecars', 'MLLP is offered, but each sidecar is rejected', next), ...strangers];
  }
  const lastSeen = new Map(seen.map(({ issuer, last_seen: at }) => [issuer, at]));
  // Its clock may have been set since.
  const wrongClocks = rejected.filter(
    ({ reason, name, at }) => reason === 'clock' && Date.parse(at) > Date.parse(lastSeen.get(name) ?? '1970-01-01'),
  );
  const shut = new Set(wrongClocks.map(({ name }) => name));
  const found = [
    ...wrongClocks.map(({ name, clock_seconds: clock }) =>
      bad(`sidecar ${name}`, `it is rejected: its clock is ${off(clock ?? 0)}`, SET_THE_CLOCK),
    ),
    ...seen.filter(({ issuer }) => !shut.has(issuer)).map((row) => calling(row, nowMs)),
  ];
  if (found.length > 0) return [...found, ...strangers];
  return [
    bad('sidecars', 'none has called in seven days', 'start one: edge/docs/deploy.md, MLLP sidecar'),
    ...strangers,
  ];
}
