/** The changes of a plan, as people and programs read them. */
import type { Permission } from '../../permissions.ts';
import type { SiteFileWrite } from '../../store/site-apply.ts';

export interface PlannedMember {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A change of one record. */
export interface PlannedItem {
  readonly kind: SiteFileWrite['kind'];
  readonly action: 'create' | 'update' | 'disable';
  readonly name: string;
  /** Null for settings, addresses, code tables, and a new API key with its subscriptions and rules. */
  readonly clientId: string | null;
  /** Null: only the operator may do it. */
  readonly permissions: readonly Permission[] | null;
  readonly members: readonly PlannedMember[];
}

/** Records of the site that the file does not have. */
export interface Unmentioned {
  readonly apiKeys: readonly { readonly name: string; readonly clientId: string }[];
  readonly addresses: readonly string[];
  readonly assigningAuthorities: readonly string[];
  readonly codeSystems: readonly string[];
  readonly subscriptions: readonly string[];
  readonly codeTables: readonly string[];
}
