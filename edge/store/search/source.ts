/**
 * The table of a kind's rows, which can drive a page, or be probed for a resource that another table found. Criteria of one
 * source are conditions on one row.
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Bind } from '../sql.ts';

/** The context of all fragments of one statement. */
export interface SearchScope {
  readonly bind: Bind;
  /** SQL of the site, a parameter given once. */
  readonly site: string;
  readonly type: ResourceType;
}

export interface Source {
  /** `from` item with the alias given. */
  readonly from: (alias: string) => string;
  readonly id: (alias: string) => string;
  /** One resource can have several rows. */
  readonly repeats: boolean;
  /** The condition that a row is of the site, and of the type where the table has several. */
  readonly within: (scope: SearchScope, alias: string) => string;
}

/** The type is a literal, not input, so sources without a column for it need no parameter. */
export const ofType = (scope: SearchScope, a: string): string =>
  `${a}.site_id = ${scope.site} and ${a}.type = '${scope.type}'`;
export const ofSite = (scope: SearchScope, a: string): string => `${a}.site_id = ${scope.site}`;

/** The resources themselves. */
export const RESOURCE: Source = { from: (a) => `resource ${a}`, id: (a) => `${a}.id`, repeats: false, within: ofType };

/** One row for each Patient; the view of the table that can be searched by index (migrations/0003_resource.sql). */
export const PATIENT_SEARCH: Source = {
  from: (a) => `patient_search_here ${a}`,
  id: (a) => `${a}.id`,
  repeats: false,
  within: ofSite,
};
