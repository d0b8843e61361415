/**
 * Keeps patient data out of addresses. A form posts what was typed, and the page has it sealed in its address, so that links,
 * Back and reload work. Only the same person can open it, in the same site.
 */
import { Fault } from '../../../shared/fault.ts';
import type { Deps } from '../../deps.ts';
import type { Actor } from '../staff/actor.ts';
import { createSeal } from '../staff/seal.ts';
import { SESSION_SECONDS } from '../staff/session.ts';

type Query = Readonly<Record<string, string>>;

/** The parameter with what was sealed. */
const SEALED = 'sealed';

export interface SealedQueries {
  /** The address of a page. @param secret the parameters that are sealed */
  addressOf(actor: Actor, path: string, query: Query, secret: readonly string[]): Promise<string>;
  /** The query with what was sealed in it. @throws Fault `malformed` */
  open(actor: Actor, query: Query): Promise<Record<string, string>>;
}

const readerOf = ({ site, subject }: Actor): string => `${site} ${subject}`;

export function createSealedQueries({ config, now }: Pick<Deps, 'config' | 'now'>): SealedQueries {
  const seal = createSeal(config.GATEWAY_SECRET, 'admin query');
  return {
    async addressOf(actor, path, query, secret) {
      const given = Object.entries(query).filter(([, value]) => value !== '');
      const plain = given.filter(([name]) => !secret.includes(name) && name !== SEALED);
      const sealed = given.filter(([name]) => secret.includes(name));
      if (sealed.length > 0) {
        const expires = Math.floor(now() / 1000) + SESSION_SECONDS;
        plain.push([SEALED, await seal.seal({ sub: readerOf(actor), query: JSON.stringify(sealed) }, expires)]);
      }
      return plain.length === 0 ? path : `${path}?${new URLSearchParams(plain).toString()}`;
    },
    async open(actor, { [SEALED]: sealed, ...query }) {
      if (sealed === undefined) return query;
      const opened = await seal.open(sealed, now());
      if (opened?.sub !== readerOf(actor) || typeof opened['query'] !== 'string') {
        throw new Fault(
          'malformed',
          'The search in this address has expired, or another person typed it. Search again.',
        );
      }
      const typed: Record<string, string> = Object.fromEntries(JSON.parse(opened['query']));
      return { ...query, ...typed };
    },
  };
}
