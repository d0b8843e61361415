/** The assignment of MLLP source addresses to sites by the operator of the gateway (edge/docs/behaviour.md, MLLP). */
import type { Query } from '../deps.ts';
import { sql } from './sql.ts';

/** An assignment: a range, limited to messages of such senders. */
export interface SiteAddress {
  /** A single address, a CIDR range or `*`, in the one spelling of `canonicalRange` (shared/ip.ts). */
  readonly range: string;
  /** MSH-3, MSH-4 and the subject of the TLS certificate; '' for any. */
  readonly application: string;
  readonly facility: string;
  readonly tlsSubject: string;
}

export interface SiteAddressRow {
  readonly site_id: string;
  readonly range: string;
  readonly application: string;
  readonly facility: string;
  readonly tls_subject: string;
}

/** @param site the site's id, or null for all */
export function siteAddresses(site: string | null): Query<SiteAddressRow> {
  return sql<SiteAddressRow>`select site_id, range, application, facility, tls_subject from site_address
    where ${site}::uuid is null or site_id = ${site}::uuid order by site_id, network, application, facility, tls_subject`;
}

/** A row for each assignment of another site that a message could match too (`conflict`), else one row. */
export function addSiteAddress(
  site: string,
  { range, application, facility, tlsSubject }: SiteAddress,
  by: string,
): Query<SiteAddressRow & { readonly outcome: 'added' | 'known' | 'missing' | 'conflict' }> {
  return sql`select outcome, site_id, range, application, facility, tls_subject
    from site_address_add(${site}::uuid, ${range}, ${application}, ${facility}, ${tlsSubject}, ${by})`;
}

export interface SiteAddressRemoved {
  readonly outcome: 'removed' | 'missing' | 'used';
  /** The Client ID of a key that uses it. */
  readonly client_id: string | null;
  readonly name: string | null;
}

/** A row for each key that would lose an address (`used`), or one. */
export function removeSiteAddress(
  site: string,
  { range, application, facility, tlsSubject }: SiteAddress,
): Query<SiteAddressRemoved> {
  return sql<SiteAddressRemoved>`select outcome, client_id, name
    from site_address_remove(${site}::uuid, ${range}, ${application}, ${facility}, ${tlsSubject})`;
}
