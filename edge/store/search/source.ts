/**
 * Where a kind's rows are: a table that can drive a page, or be probed for a resource that another one found. Kinds that
 * share one are looked at in one row of it.
 */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Bind } from '../sql.ts';

/** What every fragment of one statement shares. */
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
  /** Whether one resource can have several rows. */
  readonly repeats: boolean;
  /** The condition that a row is of the site, and of the type where the table has several. */
  readonly within: (scope: SearchScope, alias: string) => string;
}

/** The type is one of seven words, no input: as a literal it needs no parameter where a source has no column for it. */
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
