/** The sidecar as a program: environment in, signals handled, JSON lines out. Ends with 1 when it cannot start. */
import { ConfigError } from '../shared/environment.ts';
import { readSidecarConfig, type SidecarConfig } from './config.ts';
import { createLog, errorCode } from './log.ts';
import { runSidecar } from './sidecar.ts';

function configuration(): SidecarConfig {
  try {
    return readSidecarConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    createLog('info').fatal({ problems: error.problems }, 'mllp.configuration');
    process.exit(1);
  }
}

const config = configuration();
const log = createLog(config.logLevel);

try {
  const sidecar = await runSidecar(config, log);
  const { port, healthPort } = sidecar;
  const { host = '::', tls } = config;
  log.info({ host, port, healthPort, tls: tls !== undefined, pid: process.pid }, 'mllp.listening');

  let isStopping = false;
  const stop = (): void => {
    // A second signal does not wait.
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info('mllp.stopping');
    void sidecar.stop().then(() => {
      log.info('mllp.stopped');
      process.exit(0);
    });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => void sidecar.reload());
} catch (error) {
  log.fatal(
    { code: errorCode(error), detail: error instanceof Error ? error.message : undefined },
    'mllp.start-failed',
  );
  // One of the two ports may listen already.
  process.exit(1);
}
