/** The sidecar as a program: reads the environment and handles signals. Exits with 1 if it cannot start. */
import { ConfigError } from '../shared/environment.ts';
import { readSidecarConfig, type SidecarConfig } from './config.ts';
import { createLog, errorCode } from './log.ts';
import { runSidecar } from './sidecar.ts';

function configuration(): SidecarConfig {
  try {
    return readSidecarConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    createLog('info')({ level: 'fatal', event: 'mllp.configuration', problems: error.problems });
    process.exit(1);
  }
}

const config = configuration();
const log = createLog(config.logLevel);
if (config.misspelt.length > 0) log({ level: 'warn', event: 'mllp.unknown-settings', problems: config.misspelt });

try {
  const sidecar = await runSidecar(config, log);
  let isStopping = false;
  const stop = (): void => {
    // A second signal exits immediately.
    if (isStopping) process.exit(1);
    isStopping = true;
    log({ level: 'info', event: 'mllp.stopping' });
    void sidecar.stop().then(() => {
      log({ level: 'info', event: 'mllp.stopped' });
      process.exit(0);
    });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => void sidecar.reload());

  // After the handlers: who reads this line may send a signal at once.
  const { port, healthPort } = sidecar;
  const { host = '::', tls } = config;
  const { pid } = process;
  log({ level: 'info', event: 'mllp.listening', host, port, healthPort, tls: tls !== undefined, pid });
} catch (error) {
  // Node's message about a port or a file names only configured values.
  const detail = error instanceof Error ? error.message : undefined;
  log({ level: 'fatal', event: 'mllp.start-failed', code: errorCode(error), detail });
  // One of the two ports may already listen.
  process.exit(1);
}
