/**
 * The provider's tokens as the database keeps them: sealed, and each for the one session it was given for, so that neither
 * a reader of the database nor a row that was copied to another session has any use of them.
 */
import type { Deps } from '../../deps.ts';
import { createSeal } from './seal.ts';
import { SESSION_SECONDS } from './session.ts';

export interface TokenSeal {
  seal(session: string, token: string): Promise<string>;
  /** Undefined for what was not sealed here for this session. */
  open(session: string, sealed: string): Promise<string | undefined>;
}

export function createTokenSeal({ config, now }: Pick<Deps, 'config' | 'now'>): TokenSeal {
  const seal = createSeal(config.GATEWAY_SECRET, 'admin provider token');
  return {
    seal: (session, token) => seal.seal({ sub: session, token }, Math.floor(now() / 1000) + SESSION_SECONDS),
    async open(session, sealed) {
      const opened = await seal.open(sealed, now());
      return opened?.sub === session && typeof opened['token'] === 'string' ? opened['token'] : undefined;
    },
  };
}
