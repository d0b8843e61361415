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
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter<Label>({ name, help, labelNames, registers });
  return {
    registry,
    connections: gauge('mllp_connections', 'Open connections.'),
    connectionsTotal: counter('mllp_connections_total', 'Connections accepted.'),
    bytes: counter('mllp_bytes_total', 'Bytes from (in) and to (out) senders.', 'direction'),
    frames: counter(
      'mllp_frames_total',
      'Frames by kind: whole (complete), oversized, interrupted (dropped unfinished), unterminated (no CR after FS).',
      'kind',
    ),
    junkBytes: counter('mllp_junk_bytes_total', 'Dropped bytes outside frames, without line ends.'),
    acks: counter(
      'mllp_acks_total',
      'Acknowledgements written, by MSA-1; none: the sender requested no acknowledgement.',
      'code',
    ),
    forwardSeconds: new Histogram({
      name: 'mllp_forward_seconds',
      help: 'From a complete frame to the answer of the edge, including retries.',
      buckets: FORWARD_BUCKETS_SECONDS,
      registers,
    }),
    forwardWaiting: gauge('mllp_forward_waiting', 'Messages that wait to be forwarded.'),
    forwardAttempts: counter(
      'mllp_forward_attempts_total',
      'Attempts to forward, by result; every result but "answered" was retried or given up.',
      'result',
    ),
    paced: counter('mllp_paced_messages_total', 'Messages delayed by the rate limit of their address.'),
    refusals: counter('mllp_refusals_total', 'Connections that the sidecar rejected or closed, by reason.', 'reason'),
    heldBytes: gauge('mllp_held_bytes', 'Bytes of messages held in memory.'),
    edgeReachable: gauge('mllp_edge_reachable', '1 if the edge answered the last request.'),
  };
}
