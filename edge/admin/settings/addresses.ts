/**
 * Assigns source addresses of MLLP to sites, for the operator. Two sites never share a sender, and every address that an API
 * key uses stays assigned.
 */
import { Fault } from '../../../shared/fault.ts';
import { canonicalRange } from '../../../shared/ip.ts';
import type { Database } from '../../deps.ts';
import {
  addSiteAddress,
  removeSiteAddress,
  type SiteAddress,
  type SiteAddressRow,
  siteAddresses,
} from '../../store/site-address.ts';
import { checkIpRange } from '../../members/ip-range.ts';
import { plainSubject } from '../../members/tls-subject.ts';
import { noSuchSite } from './site.ts';

/** The operator's input; a filter that is left out matches any sender. */
export interface GivenAddress {
  readonly range: string;
  readonly application?: string | undefined;
  readonly facility?: string | undefined;
  readonly tlsSubject?: string | undefined;
}

const viewAddress = ({ site_id: site, range, application, facility, tls_subject: subject }: SiteAddressRow) => ({
  site,
  range,
  ...(application === '' ? {} : { senderApplication: application }),
  ...(facility === '' ? {} : { senderFacility: facility }),
  ...(subject === '' ? {} : { tlsSubject: subject }),
});

export type ViewedAddress = ReturnType<typeof viewAddress>;

/** @throws Fault `invalid` for a text that is not a range */
export function toAddress({ range, application = '', facility = '', tlsSubject = '' }: GivenAddress): SiteAddress {
  const problem = checkIpRange(range.trim());
  const canonical = canonicalRange(range.trim());
  if (problem !== undefined || canonical === undefined) throw new Fault('invalid', problem ?? 'is not a range');
  return {
    range: canonical,
    application: application.trim(),
    facility: facility.trim(),
    tlsSubject: plainSubject(tlsSubject),
  };
}

/** @param site null for all sites */
export async function listAddresses(database: Database, site: string | null): Promise<ViewedAddress[]> {
  return (await database.run(siteAddresses(site))).map(viewAddress);
}

const printed = (row: SiteAddressRow): string => JSON.stringify(viewAddress(row));

/**
 * @param by the author, for the history
 * @returns all addresses of the site
 * @throws Fault `conflict` naming assignments of other sites that could match the same message
 */
export async function assignAddress(
  database: Database,
  site: string,
  by: string,
  given: GivenAddress,
): Promise<ViewedAddress[]> {
  const rows = await database.run(addSiteAddress(site, toAddress(given), by));
  if (rows.some(({ outcome }) => outcome === 'missing')) throw noSuchSite();
  const conflicts = rows.filter(({ outcome }) => outcome === 'conflict');
  if (conflicts.length > 0) {
    throw new Fault(
      'conflict',
      `a message could match two sites: ${conflicts.map(printed).join(', ')}. Narrow or remove that assignment first, or ` +
        'give both a sender application, facility or TLS subject',
    );
  }
  return listAddresses(database, site);
}

/** Removes an assignment. @throws Fault `not-found`, or `conflict` naming the API keys that use it */
export async function withdrawAddress(database: Database, site: string, given: GivenAddress): Promise<ViewedAddress[]> {
  const rows = await database.run(removeSiteAddress(site, toAddress(given)));
  if (rows.some(({ outcome }) => outcome === 'missing')) {
    throw new Fault('not-found', 'this range is not assigned to the site: see `site address list`');
  }
  const users = rows.flatMap(({ client_id: id, name }) => (id === null ? [] : [`${name} (${id})`]));
  if (users.length > 0) {
    throw new Fault(
      'conflict',
      `the gateway would reject messages of these API keys: ${users.join(', ')}. Assign their addresses first, narrow ` +
        'their Allowed IPs, or disable them',
    );
  }
  return listAddresses(database, site);
}
