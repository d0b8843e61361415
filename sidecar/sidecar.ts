/** Assembles the sidecar: starts its parts in order and stops them in reverse. */
import manifest from '../package.json' with { type: 'json' };
import { rangeSet } from './range-set.ts';
import { createAcceptPeer } from './accept-peer.ts';
import { createAddressRateLimit } from './address-rate-limit.ts';
import { createAllowedRanges } from './allowed-ranges.ts';
import type { SidecarConfig } from './config.ts';
import { createConnectionHistory } from './connection-history.ts';
import { createConnectionLimits } from './connection-limits.ts';
import { createEdgeClient } from './edge-request.ts';
import { createForward } from './forward.ts';
import { startHealth } from './health.ts';
import { startListener } from './listener.ts';
import { errorCode, type SidecarLog } from './log.ts';
import { createMemoryBudget } from './memory-budget.ts';
import { createMetrics } from './metrics.ts';
import { startReporter } from './report.ts';
import { createTlsAcceptor } from './tls.ts';
import { createSigner } from './token.ts';
import { createUnfinishedFrames } from './unfinished-frames.ts';

export interface Sidecar {
  readonly port: number;
  readonly healthPort: number;
  /** Reads the certificates again and logs the result. */
  reload(): Promise<void>;
  /** Stops accepting, finishes and acknowledges messages in flight, then resolves. */
  stop(): Promise<void>;
}

/** Resolves when both ports listen. @throws if a port is in use or a certificate is invalid */
export async function runSidecar(config: SidecarConfig, log: SidecarLog): Promise<Sidecar> {
  const metrics = createMetrics();
  const tls = config.tls === undefined ? undefined : await createTlsAcceptor(config.tls);
  // Two sockets more than concurrent messages: for the ranges and for the report.
  const edge = createEdgeClient(config.edgeUrl, createSigner(config.name, config.privateKey), config.concurrency + 2);
  const limits = createConnectionLimits(config, metrics);
  const allowedRanges = createAllowedRanges(
    edge,
    () => ({ version: manifest.version, connections: limits.open() }),
    metrics,
    log,
  );
  const balancers = rangeSet(config.proxyProtocolFrom);
  const history = createConnectionHistory(tls !== undefined);
  let isStopping = false;

  const listener = await startListener({
    ...config,
    limits,
    balancers,
    history,
    acceptPeer: createAcceptPeer({ balancers, allowedRanges, tls }),
    forward: createForward({ ...config, edge, metrics, log }),
    pace: createAddressRateLimit(config.maxMessagesPerSecond, metrics),
    memoryBudget: createMemoryBudget(config, metrics),
    unfinishedFrames: createUnfinishedFrames(config.maxUnfinishedFramesPerAddress),
    metrics,
    log,
  });
  const health = await startHealth({
    host: config.healthHost,
    port: config.healthPort,
    registry: metrics.registry,
    problems: () => [
      ...(isStopping ? ['shutting down'] : []),
      ...[allowedRanges.edgeProblem()].filter((problem) => problem !== undefined),
    ],
  });
  void allowedRanges.start();
  const reporter = startReporter(history, edge, log);
  const logTlsProblem = (): void => {
    const detail = tls?.problem();
    if (detail !== undefined) log({ level: 'error', event: 'tls.not-valid', detail });
  };
  logTlsProblem();
  if (isReadableOnTheWay(config.edgeUrl)) log({ level: 'warn', event: 'edge.not-encrypted' });
  if (tls === undefined && !isLoopback(config.host ?? '::')) {
    log({ level: 'warn', event: 'mllp.not-encrypted', detail: NOT_ENCRYPTED });
  }

  return {
    port: listener.port,
    healthPort: health.port,
    async reload() {
      if (tls === undefined) return;
      try {
        await tls.reload();
        log({ level: 'info', event: 'tls.reloaded' });
        logTlsProblem();
      } catch (error) {
        // Names a file, as that of `mllp.start-failed`.
        const detail = error instanceof Error ? error.message : undefined;
        log({ level: 'error', event: 'tls.reload-failed', code: errorCode(error), detail });
      }
    },
    async stop() {
      isStopping = true;
      await listener.stop(config.shutdownGraceMs);
      allowedRanges.stop();
      await reporter.stop();
      edge.close();
      await health.close();
    },
  };
}

const NOT_ENCRYPTED =
  'messages with patient data arrive unencrypted: set MLLP_TLS_CERT_FILE and MLLP_TLS_KEY_FILE, or let them come by an ' +
  'encrypted network (VPN) only';

const isLoopback = (host: string): boolean => /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);

/** Messages contain patient data: beyond one machine they require https, or an encrypted network. */
function isReadableOnTheWay(edgeUrl: string): boolean {
  const { protocol, hostname } = new URL(edgeUrl);
  return protocol === 'http:' && !isLoopback(hostname);
}
