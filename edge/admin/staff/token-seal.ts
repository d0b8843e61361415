/**
 * Seals the provider's tokens before they are stored. A seal names its session. So a reader of the database cannot use the
 * token, and a row that was copied to another session is invalid.
 */
import type { Deps } from '../../deps.ts';
import { createSeal } from './seal.ts';
import { SESSION_SECONDS } from './session.ts';

export interface TokenSeal {
  seal(session: string, token: string): Promise<string>;
  /** Undefined for a value that was not sealed for this session. */
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
