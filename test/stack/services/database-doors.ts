/** The two ways into one PostgreSQL that a gateway may take, both of them looked at: Neon's protocol over HTTP, and TCP. */
import { isBookkeeping, type NeonEndpoint, type NeonEndpointOptions, startNeonEndpoint } from './neon-endpoint.ts';
import { startPostgresWire } from './postgres-wire.ts';

export interface DatabaseDoors extends NeonEndpoint {
  /** Where PostgreSQL's own protocol is spoken. */
  readonly wirePort: number;
  /** Round trips so far, through whichever door. */
  requests(): number;
  /** Shuts both. */
  close(): Promise<void>;
}

export interface DatabaseDoorsOptions extends NeonEndpointOptions {
  /** Of a pooler before the database; default the database itself. */
  readonly wireTargetPort?: number;
}

/** Both outlive a PostgreSQL that goes away, and find it again when it is back at its port. */
export async function startDatabaseDoors(options: DatabaseDoorsOptions): Promise<DatabaseDoors> {
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
