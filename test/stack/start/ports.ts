/** A port that another program holds is a clear message before anything has started. */
import { isFree } from '../services/free-port.ts';

/**
 * @param ports names of environment variables and the ports they stand for
 * @throws an Error that names every variable whose port is taken
 */
export async function assertPortsFree(ports: Readonly<Record<string, number>>): Promise<void> {
  const taken: string[] = [];
  for (const [name, port] of Object.entries(ports)) {
    if (!(await isFree(port)))
      taken.push(`port ${port} is taken: stop what listens there, or set ${name} to another one`);
  }
  if (taken.length > 0) throw new Error(taken.join('\n'));
}
