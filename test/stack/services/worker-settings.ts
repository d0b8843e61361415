/** The Worker's settings from `wrangler.toml`, read by Wrangler, for runtimes that start without it. */
import * as z from 'zod';

/** The members of Wrangler's configuration that the gateway uses. */
const configuration = z.object({
  compatibility_date: z.string(),
  durable_objects: z.object({ bindings: z.array(z.object({ name: z.string(), class_name: z.string() })) }),
  migrations: z.array(z.object({ new_sqlite_classes: z.array(z.string()).default([]) })),
  ratelimits: z.array(z.object({ name: z.string(), namespace_id: z.string() })),
  // The Worker is asked first, so that it can be started with its files as a service that it asks.
  assets: z.object({ directory: z.string(), binding: z.string(), run_worker_first: z.literal(true) }),
});

export interface WorkerSettings {
  readonly compatibilityDate: string;
  readonly durableObjects: readonly {
    readonly name: string;
    readonly className: string;
    readonly useSQLite: boolean;
  }[];
  readonly rateLimits: readonly { readonly name: string; readonly namespaceId: string }[];
  readonly assets: { readonly directory: string; readonly binding: string };
}

/** @param root the repository's folder @throws where `wrangler.toml` lacks what the gateway needs */
export async function workerSettings(root: string): Promise<WorkerSettings> {
  // Wrangler takes about a second to load; only who starts a Worker waits for it.
  const { unstable_readConfig: readConfig } = await import('wrangler');
  const { assets, ...config } = configuration.parse(readConfig({ config: `${root}wrangler.toml` }));
  const sqlite = new Set(config.migrations.flatMap((migration) => migration.new_sqlite_classes));
  return {
    compatibilityDate: config.compatibility_date,
    durableObjects: config.durable_objects.bindings.map(({ name, class_name: className }) => ({
      name,
      className,
      useSQLite: sqlite.has(className),
    })),
    rateLimits: config.ratelimits.map(({ name, namespace_id: namespaceId }) => ({ name, namespaceId })),
    assets: { directory: `${root}${assets.directory}`, binding: assets.binding },
  };
}
