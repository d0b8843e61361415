/** One step of client authentication: what it is given, and what comes of it. */
import type { Json } from '../../../shared/json.ts';
import type { Deps } from '../../deps.ts';
import type { Reason, RefusalCode } from '../../refusals.ts';
import type { ClientRow } from '../../store/client.ts';
import type { ClientKeyring } from '../client-keys.ts';
import type { CompactJws } from './compact-jws.ts';
import type { Signing } from './signing.ts';

interface Learned {
  readonly client?: ClientRow;
  readonly signing?: Signing;
}

/** An assertion that could be read, and what the steps so far have learned of it. */
export interface Known extends Learned {
  readonly jws: CompactJws;
  /** Whom it claims to come from; undefined where it names no client. */
  readonly clientId: string | undefined;
  /** The `client_id` beside it, where there is one. */
  readonly formClientId: string | undefined;
  /** What `aud` may be, first the one to name in a refusal. */
  readonly audiences: readonly string[];
}

/** What the steps ask and use. */
export interface Means {
  readonly deps: Pick<Deps, 'now' | 'rateLimiter' | 'jtiStore'>;
  readonly clientKeys: ClientKeyring;
  readonly findClient: (clientId: string) => Promise<ClientRow | undefined>;
}

/** What comes of a step: it passes and may have learned something, it refuses, or what it needs is not known. */
export type Outcome = { readonly learned: Learned } | { readonly refused: Reason } | { readonly skipped: string };

export interface Step {
  /** Of its refusals, and under which it is listed. */
  readonly code: RefusalCode;
  /** What is checked, for the workbench. */
  readonly title: string;
  /** What it uses up, so that it is made for a request only. */
  readonly spends?: 'limit' | 'jti';
  readonly run: (known: Known, means: Means) => Outcome | Promise<Outcome>;
  /** The value that is checked, for the workbench. */
  readonly seen?: (known: Known) => Json | undefined;
}
