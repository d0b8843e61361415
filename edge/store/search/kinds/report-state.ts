/** The state of a report, completed or draft, and its study (edge/docs/behaviour.md, FHIR). */
import type { JsonObject } from '../../../../shared/json.ts';
import { objectsAt, text, textAt } from '../at-path.ts';
import { EMPTY_TOKEN, isEmptyToken, oneOf } from '../compare.ts';
import type { Kind } from '../kind.ts';
import type { ReportSearch } from '../rows.ts';
import { ofSite, type Source } from '../source.ts';

interface ReportStateCriterion {
  readonly kind: 'report-state';
  readonly states: readonly ReportSearch['state'][];
}

/** `status` of a completed report; any other is a draft. */
const COMPLETED = new Set(['final', 'amended', 'corrected', 'appended']);
/** HL7 table 0203: the identifier is an accession number. */
const ACCESSION = 'ACSN';

function isAccession(identifier: JsonObject): boolean {
  return objectsAt(identifier, 'type.coding').some((coding) => coding['code'] === ACCESSION);
}

/** The accession number: reports that share it are of one study. */
function accessionOf(resource: JsonObject): string | null {
  const identifiers = [...objectsAt(resource, 'identifier'), ...objectsAt(resource, 'basedOn.identifier')];
  const values = identifiers.filter(isAccession).map((identifier) => text(identifier['value']));
  return values.find((value) => value !== '') ?? null;
}

const REPORTS: Source = { from: (a) => `report ${a}`, id: (a) => `${a}.report_id`, repeats: false, within: ofSite };

export const reportState = {
  type: 'token',
  read: ({ tokens }) => {
    const any = tokens();
    if (any.some(isEmptyToken)) return EMPTY_TOKEN;
    const states = any.flatMap(({ value }): ReportSearch['state'][] =>
      value === null ? ['completed', 'draft'] : [value === 'final' ? 'completed' : 'draft'],
    );
    return { kind: 'report-state', states };
  },
  rows: (resource, _, { elements }) => ({
    report: {
      accession: accessionOf(resource),
      state: COMPLETED.has(textAt(resource, elements)) ? 'completed' : 'draft',
    },
  }),
  meets: (write, { states }) => write.report !== null && states.includes(write.report.state),
  rank: 6,
  source: () => REPORTS,
  sql: ({ states }, alias, { bind }) => oneOf(`${alias}.state`, states, 'text', bind),
} as const satisfies Kind<ReportStateCriterion>;
