/** The MLLP sidecar as a separate process, as it is deployed: environment in, JSON lines out. */
import type { JWK } from 'jose';

import { ROOT } from './build.ts';
import { spawnLogged } from './logged.ts';
import { until } from './until.ts';

export interface SidecarOptions {
  readonly edgeUrl: string;
  /** Private ES256 JWK with a `kid`; its public half is in the edge's MLLP_SIDECAR_KEYS. */
  readonly privateKey: JWK;
  /** Default: free ones. */
  readonly port?: number;
  readonly healthPort?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Gets each line as it is logged. */
  readonly log?: (line: string) => void;
}

export interface SidecarProcess {
  readonly host: string;
  readonly port: number;
  readonly healthPort: number;
  /** The process id of the sidecar, for signals. */
  readonly pid: number;
  /** SIGTERM; resolves when what was in flight is finished and the process has ended. */
  stop(): Promise<void>;
  /** SIGKILL, at once. */
  kill(): Promise<void>;
  /** Settles with the exit code when the process has ended (null: a signal). */
  readonly exited: Promise<number | null>;
  /** Lines logged so far, the last ten thousand. */
  logs(): readonly string[];
}

const HOST = '127.0.0.1';
interface Listening {
  readonly port: number;
  readonly healthPort: number;
  readonly pid: number;
}

/** Resolves when it listens. @throws with its log when it ends before that */
export async function startSidecar(options: SidecarOptions): Promise<SidecarProcess> {
  const env = {
    ...process.env,
    MLLP_HOST: HOST,
    MLLP_PORT: String(options.port ?? 0),
    HEALTH_PORT: String(options.healthPort ?? 0),
    EDGE_URL: options.edgeUrl,
    SIDECAR_NAME: 'local-sidecar',
    SIDECAR_PRIVATE_KEY: JSON.stringify(options.privateKey),
    ...options.env,
  };
  const command = [process.execPath, `${ROOT}sidecar/main.ts`];
  const { exited, hasEnded, stop, kill, logs } = spawnLogged(command, { cwd: ROOT, env, log: options.log });

  const listening = await until('the sidecar listens', () => {
    const line = logs.find((each) => each.includes('"event":"mllp.listening"'));
    if (line === undefined && hasEnded()) throw new Error(`the sidecar ended:\n${logs.join('\n')}`);
    return line === undefined ? undefined : (JSON.parse(line) as Listening);
  });

  return {
    host: HOST,
    port: listening.port,
    healthPort: listening.healthPort,
    pid: listening.pid,
    stop,
    kill,
    exited,
    logs: () => logs,
  };
}
