/** What telling patients of one message apart needs, beside the segments. */
import type { MapContext } from '../mapping/context.ts';
import type { Drafts } from '../mapping/drafts.ts';
import type { MessageClock } from '../precedence/clock.ts';
import type { Authorities } from '../mapping/assigning-authority.ts';
import { chartsOf, knownNumbers } from './found-patients.ts';
import type { IdentityCheck } from '../../store/sender-choice.ts';
import type { ResolveRequest } from './resolve.ts';
import type { NumberRules } from './sent-identifiers.ts';

export interface IdentityContext {
  readonly authorities: Authorities;
  readonly rules: NumberRules;
  readonly check: IdentityCheck;
  readonly drafts: Drafts;
  readonly context: MapContext;
  /** Of the message. */
  readonly clock: MessageClock;
  /** Of a patient that is created. */
  readonly newId: () => string;
  /** The charts as they are now: a message that is about several patients finds what it made itself. */
  readonly found: () => Pick<ResolveRequest, 'known' | 'charts' | 'namedUris' | 'rejected' | 'placeholderDates'>;
}

export function identityContext(parts: Omit<IdentityContext, 'found'>): IdentityContext {
  const { authorities, rules, drafts } = parts;
  const namedUris = new Set([...authorities.named.values(), ...authorities.taught.values()]);
  return {
    ...parts,
    found: () => ({
      known: knownNumbers(drafts, rules),
      charts: chartsOf(drafts),
      namedUris,
      rejected: authorities.rejected,
      placeholderDates: rules.placeholderBirthDates,
    }),
  };
}
