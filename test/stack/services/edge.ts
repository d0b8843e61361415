/** The arguments and the interface of every way to run the edge: in workerd, under Deno, under Wrangler. */

/** The arguments of a runtime. */
export interface EdgeOptions {
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  readonly persistDir?: string | undefined;
  readonly caCertificate?: string | undefined;
  /** Put over the program's permissions of the same name (deno). */
  readonly permissions?: readonly string[];
  readonly rateLimits: {
    readonly tokenPerClient: number;
    readonly tokenPerAddress: number;
    readonly adminPerAddress: number;
    readonly perKey: number;
  };
  /** Gets each line the gateway logs, as it is logged (deno). */
  readonly log?: (line: string) => void;
}

export interface Edge {
  /** In good order: under Deno up to five seconds, since what was counted is written first. */
  stop(): Promise<void>;
  /** SIGKILL, at once: what was in memory is gone. Also how a test that is done ends its gateway. */
  kill(): Promise<void>;
  /** Runs background jobs immediately (workerd, where they are an event; Deno has a timer). */
  tick?(): Promise<void>;
  /** Lines the gateway logged so far. */
  logs(): readonly string[];
}
