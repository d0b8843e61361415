/** Makes the file of a site as it is. */
import { indexBy } from '../../../shared/index-by.ts';
import type { Database } from '../../deps.ts';
import { KEY_MEMBERS } from '../../members/api-key.ts';
import { toMembers } from '../../members/member.ts';
import type { TableRow } from '../../store/admin-code-table.ts';
import { csvText } from '../code-tables/csv.ts';
import { pagesOfRows } from '../code-tables/tables.ts';
import { SITE_MEMBERS } from '../settings/record.ts';
import type { Actor } from '../staff/actor.ts';
import { exportedMembers, FORMAT } from './file.ts';
import { membersOfRow, tupleOfRow } from './match-subscriptions.ts';
import { mayNamePatient } from './plan-subscriptions.ts';
import type { PlanOptions } from './part.ts';
import { readRulesState, readState, type RulesState, type SiteState } from './state.ts';

/** The file that makes a site as it is. API keys have their Client ID only where several have one name. */
function exportFile(
  { settings, keys, addresses, subscriptions }: SiteState,
  withSubscriptions: boolean,
  live: { readonly rules: RulesState['rules']; readonly codeTables: readonly object[] } | undefined,
): Record<string, unknown> {
  const namesakes = indexBy(keys, ({ name }) => [name]);
  const isAlone = (name: string): boolean => namesakes.get(name)?.length === 1;
  const nameOf = new Map(keys.map(({ client_id: id, name }) => [id, isAlone(name) ? name : id]));
  const equal = indexBy(subscriptions, (row) => [tupleOfRow(row)]);
  return {
    format: FORMAT,
    site: settings.site_id,
    settings: exportedMembers(toMembers(SITE_MEMBERS, settings)),
    addresses: addresses.map(({ range, application, facility, tls_subject: subject }) => ({
      range,
      ...(application === '' ? {} : { senderApplication: application }),
      ...(facility === '' ? {} : { senderFacility: facility }),
      ...(subject === '' ? {} : { tlsSubject: subject }),
    })),
    apiKeys: keys.map((key) => ({
      ...(isAlone(key.name) ? {} : { clientId: key.client_id }),
      ...exportedMembers(toMembers(KEY_MEMBERS, key)),
      ...(live === undefined ? {} : { rules: live.rules.get(key.client_id)?.rules ?? [] }),
    })),
    ...(withSubscriptions
      ? {
          subscriptions: subscriptions.map((row) => ({
            ...(equal.get(tupleOfRow(row))?.length === 1 ? {} : { subscriptionId: row.subscription_id }),
            apiKey: nameOf.get(row.client_id),
            ...membersOfRow(row),
          })),
        }
      : {}),
    ...(live === undefined ? {} : { codeTables: live.codeTables }),
  };
}

/** The live rows of each table, as long as they are at most `maxRows` in all. */
async function exportTables(
  database: Database,
  site: string,
  tables: RulesState['tables'],
  maxRows: number,
): Promise<object[]> {
  const exported: object[] = [];
  let left = maxRows;
  for (const table of tables) {
    const rows: TableRow[] = [];
    if (table.live !== null)
      for await (const page of pagesOfRows(database, site, table, table.live)) {
        rows.push(...page);
        if (rows.length > left) break;
      }
    const isLeftOut = rows.length > left;
    if (!isLeftOut) left -= rows.length;
    const { name, live } = table;
    exported.push(isLeftOut ? { name } : { name, csv: live === null ? null : csvText(rows) });
  }
  return exported;
}

/**
 * Exports the site. The address of a subscription may have a secret, and a filter may name a patient. Without the permissions
 * to see them, the file has no subscriptions. Without `site.rules.read` it has no rules and code tables.
 */
export async function exportSite(
  database: Database,
  actor: Actor,
  { maxRows }: Pick<PlanOptions, 'maxRows'>,
): Promise<Record<string, unknown>> {
  const state = await readState(database, actor, actor.permissions.has('site.api_keys.update'));
  const maySeeAll =
    actor.permissions.has('site.messages.read') || !state.subscriptions.some(({ filter }) => mayNamePatient(filter));
  const withSubscriptions = actor.permissions.has('site.api_keys.update') && maySeeAll;
  if (!actor.permissions.has('site.rules.read')) return exportFile(state, withSubscriptions, undefined);
  const { rules, tables } = await readRulesState(database, actor);
  const codeTables = await exportTables(database, actor.site, tables, maxRows);
  return exportFile(state, withSubscriptions, { rules, codeTables });
}
