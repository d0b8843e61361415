/** The tables that a search reads: each can drive a page, or be probed for a resource that another one found. */
import type { ResourceType } from '../../../shared/resource-type.ts';
import type { Bind } from '../sql.ts';

/** What every fragment of one statement shares. */
export interface SearchScope {
  readonly bind: Bind;
  /** SQL of the site, a parameter given once. */
  readonly site: string;
  readonly type: ResourceType;
}

export type Source = 'resource' | 'identifier' | 'token' | 'patient' | 'report' | 'study';

interface SourceSql {
  /** `from` item with the alias given. */
  readonly from: (alias: string) => string;
  readonly id: (alias: string) => string;
  /** Whether one resource can have several rows. */
  readonly repeats: boolean;
  readonly within: (scope: SearchScope, alias: string) => string;
}

/** The type is one of seven words, no input: as a literal it needs no parameter where a source has no column for it. */
const ofType = (scope: SearchScope, a: string): string =>
  `${a}.site_id = ${scope.site} and ${a}.type = '${scope.type}'`;
const ofSite = (scope: SearchScope, a: string): string => `${a}.site_id = ${scope.site}`;

export const SOURCES: Readonly<Record<Source, SourceSql>> = {
  resource: { from: (a) => `resource ${a}`, id: (a) => `${a}.id`, repeats: false, within: ofType },
  identifier: { from: (a) => `resource_identifier ${a}`, id: (a) => `${a}.id`, repeats: true, within: ofType },
  token: { from: (a) => `resource_token ${a}`, id: (a) => `${a}.id`, repeats: true, within: ofType },
  patient: { from: (a) => `patient_search ${a}`, id: (a) => `${a}.id`, repeats: false, within: ofSite },
  report: { from: (a) => `report ${a}`, id: (a) => `${a}.report_id`, repeats: false, within: ofSite },
  study: {
    // A report belongs to a study, a study to a patient (edge/README.md, FHIR). The offset keeps it a look-up for each
    // study.
    from: (a) => `study ${a}_study cross join lateral (
      select o.report_id from report o
       where o.site_id = ${a}_study.site_id and o.study_id = ${a}_study.study_id offset 0) ${a}`,
    id: (a) => `${a}.report_id`,
    repeats: false,
    within: (scope, a) => ofSite(scope, `${a}_study`),
  },
};
