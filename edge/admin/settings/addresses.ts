/**
 * Assigning source addresses of MLLP to sites, for the operator of the gateway: no two sites can have the same sender,
 * and no key loses one.
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

/** What an operator says; a sender's mark that is left out is any. */
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

/** @throws Fault `invalid` for what is no range */
function toAddress({ range, application = '', facility = '', tlsSubject = '' }: GivenAddress): SiteAddress {
  const problem = checkIpRange(range.trim());
  const canonical = canonicalRange(range.trim());
  if (problem !== undefined || canonical === undefined) throw new Fault('invalid', problem ?? 'is no range');
  return {
    range: canonical,
    application: application.trim(),
    facility: facility.trim(),
    tlsSubject: plainSubject(tlsSubject),
  };
}

/** @param site of which one, or null for all */
export async function listAddresses(database: Database, site: string | null): Promise<ViewedAddress[]> {
  return (await database.run(siteAddresses(site))).map(viewAddress);
}

const told = (row: SiteAddressRow): string => JSON.stringify(viewAddress(row));

/**
 * @param by who, for the record
 * @returns what the site has now
 * @throws Fault `conflict` naming what other sites have that a message could fit too
 */
export async function assignAddress(
  database: Database,
  site: string,
  by: string,
  given: GivenAddress,
): Promise<ViewedAddress[]> {
  const rows = await database.run(addSiteAddress(site, toAddress(given), by));
  if (rows.some(({ outcome }) => outcome === 'missing')) throw noSuchSite();
  const taken = rows.filter(({ outcome }) => outcome === 'taken');
  if (taken.length > 0) {
    throw new Fault(
      'conflict',
      `a message could be of two sites: ${taken.map(told).join(', ')}. Take that away first (add what that site keeps, ` +
        'narrower, before), or tell their senders apart: by sender application, facility or TLS subject, given for both',
    );
  }
  return listAddresses(database, site);
}

/** @throws Fault `not-found`, or `conflict` naming the keys that use it */
export async function withdrawAddress(database: Database, site: string, given: GivenAddress): Promise<ViewedAddress[]> {
  const rows = await database.run(removeSiteAddress(site, toAddress(given)));
  if (rows.some(({ outcome }) => outcome === 'missing')) {
    throw new Fault('not-found', 'that is not assigned to this site: `site address list` shows what is');
  }
  const users = rows.flatMap(({ client_id: id, name }) => (id === null ? [] : [`${name} (${id})`]));
  if (users.length > 0) {
    throw new Fault(
      'conflict',
      `messages of these API keys would be refused: ${users.join(', ')}. Add what they need first, or narrow their ` +
        'Allowed IPs, or disable them',
    );
  }
  return listAddresses(database, site);
}
