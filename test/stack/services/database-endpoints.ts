/** Both ways from a gateway to one PostgreSQL, with the round trips counted: Neon's protocol over HTTP, and TCP. */
import { isBookkeeping, type NeonEndpoint, type NeonEndpointOptions, startNeonEndpoint } from './neon-endpoint.ts';
import { startPostgresWire } from './postgres-wire.ts';

export interface DatabaseEndpoints extends NeonEndpoint {
  /** The port for PostgreSQL's own protocol. */
  readonly wirePort: number;
  /** Round trips so far, over either protocol. */
  requests(): number;
  /** Shuts both. */
  close(): Promise<void>;
}

export interface DatabaseEndpointsOptions extends NeonEndpointOptions {
  /** The port of a pooler before the database; by default the database's. */
  readonly wireTargetPort?: number;
}

/** Both survive an outage of PostgreSQL, and reconnect when it listens on its port again. */
export async function startDatabaseEndpoints(options: DatabaseEndpointsOptions): Promise<DatabaseEndpoints> {
  const endpoint = await startNeonEndpoint(options);
  const targetPort = options.wireTargetPort ?? Number(new URL(options.databaseUrl).port || '5432');
  const wire = await startPostgresWire({ targetPort, isLeftOut: isBookkeeping });
  return {
    ...endpoint,
    wirePort: wire.port,
    requests: () => endpoint.requests() + wire.requests(),
    async close() {
      await wire.close();
      await endpoint.close();
    },
  };
}
