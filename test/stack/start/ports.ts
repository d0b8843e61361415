/** A port that another program holds is a clear message before anything has started. */
import { isFree } from '../services/free-port.ts';

/**
 * @param ports names of environment variables and the ports they stand for
 * @throws an Error that names every variable whose port is in use
 */
export async function assertPortsFree(ports: Readonly<Record<string, number>>): Promise<void> {
  const inUse: string[] = [];
  for (const [name, port] of Object.entries(ports)) {
    if (!(await isFree(port)))
      inUse.push(`port ${port} is in use: stop the program on it, or set ${name} to another port`);
  }
  if (inUse.length > 0) throw new Error(inUse.join('\n'));
}
