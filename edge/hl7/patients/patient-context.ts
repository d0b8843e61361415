/** The parameters of matching the patients of one message, beside the segments. */
import type { Segment } from '../../../shared/hl7/message.ts';
import type { MapContext } from '../mapping/context.ts';
import type { Drafts } from '../mapping/drafts.ts';
import type { MessageClock, Timing } from '../precedence/clock.ts';
import { timeOfId } from '../precedence/precedence.ts';
import type { Authorities } from '../mapping/assigning-authority.ts';
import { storedIdentity } from './found-patients.ts';
import type { KeyRecord } from '../../members/api-key.ts';
import type { ResolveRequest } from './resolve-request.ts';
import type { IdentifierRules } from './sent-identifiers.ts';

/** The segments about one patient. */
export interface PatientSegments {
  readonly pid: Segment;
  /** PD1 and similar segments. */
  readonly more: readonly Segment[];
  /** The MRG of a merge or renumbering. */
  readonly mrg: Segment | undefined;
  readonly timing: Timing;
}

export interface PatientContext {
  readonly authorities: Authorities;
  readonly rules: IdentifierRules;
  readonly check: KeyRecord['hl7_identity_check'];
  readonly drafts: Drafts;
  readonly context: MapContext;
  readonly clock: MessageClock;
  readonly newId: () => string;
  /** The day of the receipt. */
  readonly today: string;
  /** The patients as they are now: a message about several patients finds its new patients too. */
  readonly found: () => Pick<
    ResolveRequest,
    'stored' | 'patients' | 'namedUris' | 'rejected' | 'placeholderDates' | 'today'
  >;
}

export function patientContext(parts: Omit<PatientContext, 'found' | 'today'>): PatientContext {
  const { authorities, rules, drafts, context } = parts;
  const today = new Date(timeOfId(context.messageId)).toISOString().slice(0, 'YYYY-MM-DD'.length);
  return { ...parts, today, found: () => ({ ...storedIdentity(drafts, authorities, rules), today }) };
}
