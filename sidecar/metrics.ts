/** What Prometheus sees. Labels take values from closed lists only, so that no peer can make series without end. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type RefusalReason =
  | 'too-many-connections'
  | 'too-many-connections-of-address'
  | 'gave-way'
  | 'no-first-frame'
  | 'address-not-allowed'
  | 'balancer-check'
  | 'proxy-header-missing'
  | 'proxy-header-invalid'
  | 'proxy-header-unexpected'
  | 'opening-timeout'
  | 'tls-handshake'
  | 'tls-on-plain-port'
  | 'http'
  | 'junk'
  | 'frame-timeout'
  | 'too-many-unfinished-frames'
  | 'idle-timeout'
  | 'memory'
  | 'ack-not-taken'
  | 'edge-unavailable'
  | 'internal-error'
  | 'shutting-down';

export interface Metrics {
  readonly registry: Registry;
  readonly connections: Gauge;
  readonly connectionsTotal: Counter;
  readonly bytes: Counter<'direction'>;
  readonly frames: Counter<'kind'>;
  readonly junkBytes: Counter;
  readonly acks: Counter<'code'>;
  readonly forwardSeconds: Histogram;
  readonly forwardWaiting: Gauge;
  readonly forwardAttempts: Counter<'result'>;
  readonly paced: Counter;
  readonly refusals: Counter<'reason'>;
  readonly heldBytes: Gauge;
  readonly edgeReachable: Gauge;
}

const FORWARD_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** A registry of its own, so that two listeners in one process do not share counts. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    connections: new Gauge({ name: 'mllp_connections', help: 'Open connections.', registers }),
    connectionsTotal: new Counter({ name: 'mllp_connections_total', help: 'Connections accepted.', registers }),
    bytes: new Counter({
      name: 'mllp_bytes_total',
      help: 'Bytes from (in) and to (out) senders.',
      labelNames: ['direction'],
      registers,
    }),
    frames: new Counter({
      name: 'mllp_frames_total',
      help: 'Frames by kind: whole, oversized, interrupted (dropped unfinished), unterminated (no CR after FS).',
      labelNames: ['kind'],
      registers,
    }),
    junkBytes: new Counter({
      name: 'mllp_junk_bytes_total',
      help: 'Bytes outside any frame, dropped; line ends are not counted.',
      registers,
    }),
    acks: new Counter({
      name: 'mllp_acks_total',
      help: 'Acknowledgements written, by MSA-1; none: the sender asked for no acknowledgement.',
      labelNames: ['code'],
      registers,
    }),
    forwardSeconds: new Histogram({
      name: 'mllp_forward_seconds',
      help: 'From a whole frame to its answer from the edge, retries included.',
      buckets: FORWARD_BUCKETS_SECONDS,
      registers,
    }),
    forwardWaiting: new Gauge({
      name: 'mllp_forward_waiting',
      help: 'Messages that wait for their turn to be forwarded.',
      registers,
    }),
    forwardAttempts: new Counter({
      name: 'mllp_forward_attempts_total',
      help: 'Attempts to forward, by result; all but "answered" were tried again or given up.',
      labelNames: ['result'],
      registers,
    }),
    paced: new Counter({
      name: 'mllp_paced_messages_total',
      help: 'Messages that waited because their address sends faster than it may.',
      registers,
    }),
    refusals: new Counter({
      name: 'mllp_refusals_total',
      help: 'Connections refused or closed by the sidecar, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    heldBytes: new Gauge({ name: 'mllp_held_bytes', help: 'Bytes of messages held in memory.', registers }),
    edgeReachable: new Gauge({
      name: 'mllp_edge_reachable',
      help: '1 when the edge answered the last time it was asked.',
      registers,
    }),
  };
}
