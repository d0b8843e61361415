/** The interface of a step of client authentication. */
import type { Json } from '../../../shared/json.ts';
import type { Deps } from '../../deps.ts';
import type { Reason, RefusalCode } from '../../refusals.ts';
import type { ClientRow } from '../../store/client.ts';
import type { ClientKeyring } from '../client-keys.ts';
import type { CompactJws } from './compact-jws.ts';
import type { Signing } from './signing.ts';

interface Findings {
  readonly client?: ClientRow;
  readonly signing?: Signing;
}

/** A parsed assertion, and the results of the previous steps. */
export interface Progress extends Findings {
  readonly jws: CompactJws;
  /** The client that the assertion claims; undefined if it claims none. */
  readonly clientId: string | undefined;
  /** The form's `client_id`, if any. */
  readonly formClientId: string | undefined;
  /** The accepted values of `aud`; a rejection names the first. */
  readonly audiences: readonly string[];
}

export interface StepDeps {
  readonly deps: Pick<Deps, 'now' | 'rateLimiter' | 'jtiStore'>;
  readonly clientKeys: ClientKeyring;
  readonly findClient: (clientId: string) => Promise<ClientRow | undefined>;
}

/** The result of a step: success with findings, a rejection, or skipped because its input is missing. */
export type Outcome = { readonly findings: Findings } | { readonly refused: Reason } | { readonly skipped: string };

export interface Step {
  /** The code of its refusals. */
  readonly code: RefusalCode;
  /** For the workbench. */
  readonly title: string;
  /** The step's effect, because of which the workbench skips it. */
  readonly spends?: 'limit' | 'jti';
  readonly run: (progress: Progress, stepDeps: StepDeps) => Outcome | Promise<Outcome>;
  /** The checked value, for the workbench. */
  readonly seen?: (progress: Progress) => Json | undefined;
}
