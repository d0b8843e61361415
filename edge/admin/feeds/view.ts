/** The feeds of a site, key by key, and a sentence about all of them, for the console and the JSON API. */
import { SIDECAR_SILENT_MS } from '../../alert-kinds.ts';
import type { Database } from '../../deps.ts';
import { type AlertRow, listAlerts } from '../../store/admin-alert.ts';
import { type FeedRow, feedsNow, MAX_KEYS } from '../../store/admin-feed.ts';
import { inSite } from '../../store/in-site.ts';
import { connectionSources, type SourceRow } from '../../store/mllp-connection.ts';
import { type SidecarRow, sidecarsSeen } from '../../store/sidecar.ts';
import { viewAlert } from '../alerts/listing.ts';
import { viewSource } from './connections.ts';
import { sentenceOf } from './health.ts';
import { judge } from './judge.ts';
import type { Feed, Feeds, Sender } from './schema.ts';

/** As many as keys, so that each silent key is known. */
const MAX_ALERTS = 300;
const MAX_SHOWN_ALERTS = 10;

/** A sender that sent at one moment only, such as a message that was sent by mistake. */
const isSingle = ({ surface, first_at: first, last_at: last }: FeedRow): boolean =>
  surface !== 'fhir' && first !== null && first === last;

/**
 * @param alerted keys that have an open alert for silence
 * @param hasFeed the key has a sender that sent more than once
 */
function viewSender(row: FeedRow, alerted: ReadonlySet<string>, hasFeed: boolean): Sender[] {
  if (row.surface === null || row.last_at === null) return [];
  const verdict = (): Sender['verdict'] => {
    if (row.surface === 'fhir') return null;
    // The silence of the key is that of its other senders.
    if (isSingle(row) && hasFeed) return 'too-new';
    return judge(row, row.watched ? alerted.has(row.client_id) : undefined);
  };
  return [
    {
      surface: row.surface,
      application: row.application ?? '',
      facility: row.facility ?? '',
      lastAt: row.last_at,
      today: { accepted: row.accepted, refused: row.refused, rejected: row.rejected },
      refusedLately: row.late_refused,
      lastHour: row.hour,
      isSingle: isSingle(row),
      verdict: verdict(),
    },
  ];
}

function viewFault({ fault_at: at, fault_surface: surface, fault_code: code, fault_reason: reason }: FeedRow) {
  return at === null || surface === null || code === null || reason === null ? null : { at, surface, code, reason };
}

export function viewFeeds(
  rows: readonly FeedRow[],
  alerts: readonly AlertRow[],
  sidecars: readonly SidecarRow[],
  nowMs: number,
  maySeeReasons: boolean,
  sources: readonly SourceRow[] = [],
): Feeds {
  const alerted = new Set(
    alerts
      .filter(({ kind, clear_since: clear }) => kind === 'feed-silent' && clear === null)
      .map(({ subject }) => subject),
  );
  const ofKeys = Map.groupBy(sources, ({ client_id: clientId }) => clientId);
  const keys = [...Map.groupBy(rows, ({ client_id: clientId }) => clientId).values()];
  const feeds = keys.slice(0, MAX_KEYS).flatMap((ofKey): Feed[] => {
    const [key] = ofKey;
    if (key === undefined) return [];
    const hasFeed = ofKey.some((row) => row.last_at !== null && row.surface !== 'fhir' && !isSingle(row));
    return [
      {
        clientId: key.client_id,
        name: key.name,
        status: key.status,
        protocols: [...key.protocols],
        isWatched: key.watched,
        senders: ofKey.flatMap((row) => viewSender(row, alerted, hasFeed)),
        refusals: key.refusals,
        fault: maySeeReasons ? viewFault(key) : null,
        connections: (ofKeys.get(key.client_id) ?? []).map(viewSource),
      },
    ];
  });
  const seen = sidecars.map(({ issuer, last_seen: at, clock_seconds: clockSeconds, version, connections }) => ({
    issuer,
    lastSeenAt: at,
    isLate: nowMs - Date.parse(at) > SIDECAR_SILENT_MS,
    clockSeconds,
    version,
    connections,
  }));
  const isCut = keys.length > MAX_KEYS;
  const shown = { feeds, isCut, sidecars: seen, alerts: alerts.slice(0, MAX_SHOWN_ALERTS).map(viewAlert) };
  return { health: sentenceOf(shown, nowMs), ...shown };
}

/** One round trip. Its cost grows with keys and senders, not with messages. */
export async function readFeeds(
  database: Database,
  site: string,
  nowMs: number,
  maySeeReasons: boolean,
): Promise<Feeds> {
  const [rows, alerts, sidecars, sources] = await inSite(database, site).batch([
    feedsNow(site, nowMs),
    listAlerts(site, 'firing', null, MAX_ALERTS),
    sidecarsSeen(),
    connectionSources(site),
  ]);
  return viewFeeds(rows, alerts, sidecars, nowMs, maySeeReasons, sources);
}
