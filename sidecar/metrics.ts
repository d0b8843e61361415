/** Prometheus metrics. Labels have values from closed lists only, so that a peer cannot create series. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Reasons why the sidecar rejected or closed a connection. */
const REFUSAL_REASONS = [
  'too-many-connections',
  'too-many-connections-of-address',
  'gave-way',
  'no-first-frame',
  'address-not-allowed',
  'balancer-check',
  'proxy-header-missing',
  'proxy-header-invalid',
  'proxy-header-unexpected',
  'opening-timeout',
  'tls-handshake',
  'tls-on-plain-port',
  'http',
  'junk',
  'frame-timeout',
  'too-many-unfinished-frames',
  'idle-timeout',
  'memory',
  'ack-not-taken',
  'edge-unavailable',
  'internal-error',
  'shutting-down',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Reasons why a connection ended, in the order of the sender, the network and the gateway. */
export const CLOSE_REASONS = ['sender-closed', 'connection-lost', 'sender-unknown', ...REFUSAL_REASONS] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

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

/** A separate registry, so that two listeners in one process do not share counts. */
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
      help: 'Frames by kind: whole (complete), oversized, interrupted (dropped unfinished), unterminated (no CR after FS).',
      labelNames: ['kind'],
      registers,
    }),
    junkBytes: new Counter({
      name: 'mllp_junk_bytes_total',
      help: 'Dropped bytes outside frames, without line ends.',
      registers,
    }),
    acks: new Counter({
      name: 'mllp_acks_total',
      help: 'Acknowledgements written, by MSA-1; none: the sender requested no acknowledgement.',
      labelNames: ['code'],
      registers,
    }),
    forwardSeconds: new Histogram({
      name: 'mllp_forward_seconds',
      help: 'From a complete frame to the answer of the edge, including retries.',
      buckets: FORWARD_BUCKETS_SECONDS,
      registers,
    }),
    forwardWaiting: new Gauge({
      name: 'mllp_forward_waiting',
      help: 'Messages that wait to be forwarded.',
      registers,
    }),
    forwardAttempts: new Counter({
      name: 'mllp_forward_attempts_total',
      help: 'Attempts to forward, by result; every result but "answered" was retried or given up.',
      labelNames: ['result'],
      registers,
    }),
    paced: new Counter({
      name: 'mllp_paced_messages_total',
      help: 'Messages delayed by the rate limit of their address.',
      registers,
    }),
    refusals: new Counter({
      name: 'mllp_refusals_total',
      help: 'Connections that the sidecar rejected or closed, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    heldBytes: new Gauge({ name: 'mllp_held_bytes', help: 'Bytes of messages held in memory.', registers }),
    edgeReachable: new Gauge({
      name: 'mllp_edge_reachable',
      help: '1 if the edge answered the last request.',
      registers,
    }),
  };
}
