/** Reads the state of a site that its file describes, in one round trip. */
import { Fault } from '../../../shared/fault.ts';
import type { Database } from '../../deps.ts';
import { type SiteSubscriptionRow, siteSubscriptions } from '../../store/admin-subscription.ts';
import type { SenderRule } from '../../members/sender-rules.ts';
import { type CodeTableRow, listCodeTables } from '../../store/admin-code-table.ts';
import { readLiveRules, storedRules } from '../../store/admin-rules.ts';
import { inSite } from '../../store/in-site.ts';
import { siteAddresses, type SiteAddressRow } from '../../store/site-address.ts';
import type { SettingsRow } from '../../store/site.ts';
import { readRecords } from '../keys/statements.ts';
import type { VersionedKey } from '../keys/statements.ts';
import { noSuchSite, readSettings } from '../settings/site.ts';
import type { Actor } from '../staff/actor.ts';
import { requirePermission } from '../staff/actor.ts';
import { MAX_FILE_SUBSCRIPTIONS, MAX_KEYS } from './file.ts';

export interface SiteState {
  readonly settings: SettingsRow;
  /** By name. */
  readonly keys: readonly VersionedKey[];
  readonly addresses: readonly SiteAddressRow[];
  /** Empty unless they were asked for. */
  readonly subscriptions: readonly SiteSubscriptionRow[];
}

/**
 * @param withSubscriptions false: they are not read
 * @throws Fault `forbidden` without the permissions to read; `too-large` for a site with too many records
 */
export async function readState(database: Database, actor: Actor, withSubscriptions: boolean): Promise<SiteState> {
  requirePermission(actor, 'site.settings.read');
  requirePermission(actor, 'site.api_keys.read');
  const [[settings], keys, addresses, subscriptions = []] = await inSite(database, actor.site).batch([
    readSettings(actor.site),
    readRecords(actor.site, MAX_KEYS + 1),
    siteAddresses(actor.site),
    ...(withSubscriptions ? [siteSubscriptions(actor.site, MAX_FILE_SUBSCRIPTIONS + 1)] : []),
  ] as const);
  if (settings === undefined) throw noSuchSite();
  if (keys.length > MAX_KEYS)
    throw new Fault(
      'too-large',
      `the site has more than ${MAX_KEYS} API keys: use /admin/api/api-keys instead of a file`,
    );
  if (subscriptions.length > MAX_FILE_SUBSCRIPTIONS)
    throw new Fault(
      'too-large',
      `the site has more than ${MAX_FILE_SUBSCRIPTIONS} subscriptions: use /admin/api/subscriptions instead of a file`,
    );
  return { settings, keys, addresses, subscriptions };
}

/** The live rules of API keys, and the code tables. */
export interface RulesState {
  readonly rules: ReadonlyMap<string, { readonly version: number; readonly rules: readonly SenderRule[] }>;
  readonly tables: readonly CodeTableRow[];
}

/** @throws Fault `forbidden` without the permission to read them */
export async function readRulesState(database: Database, actor: Actor): Promise<RulesState> {
  requirePermission(actor, 'site.rules.read');
  const { site } = actor;
  const [rules, tables] = await inSite(database, site).batch([readLiveRules(site), listCodeTables(site, null)]);
  return {
    rules: new Map(rules.map(({ client_id: id, version, rules: text }) => [id, { version, rules: storedRules(text) }])),
    tables,
  };
}
