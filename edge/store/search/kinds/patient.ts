/** The patient of a resource: `Patient/[id]` or `[id]` (FHIR R4 search, 3.1.1.4.12 reference). */
import { isUuid } from '../../../../shared/uuid.ts';
import { objectsAt, text } from '../at-path.ts';
import { oneOf } from '../compare.ts';
import type { Kind } from '../kind.ts';
import { ofSite, RESOURCE, type Source } from '../source.ts';

interface PatientCriterion {
  readonly kind: 'patient';
  /** UUIDs of patients. */
  readonly ids: readonly string[];
  /** SQL of one id instead (related.ts). */
  readonly found?: string;
}

const REFERENCE = /^Patient\/([^/]+)(?:\/_history\/[^/]+)?$/;

/** The id of a relative `Patient/<id>`, with or without a version. */
export function patientIdOf(reference: string): string | undefined {
  return REFERENCE.exec(reference)?.[1];
}

/** A report belongs to a study, a study to a patient (edge/docs/behaviour.md, FHIR). */
const STUDIES: Source = {
  // The offset keeps it a look-up for each study.
  from: (a) => `study ${a}_study cross join lateral (
      select o.report_id from report o
       where o.site_id = ${a}_study.site_id and o.study_id = ${a}_study.study_id offset 0) ${a}`,
  id: (a) => `${a}.report_id`,
  repeats: false,
  within: (scope, a) => ofSite(scope, `${a}_study`),
};

export const patient = {
  type: 'reference',
  read: ({ references }) => {
    const ids: string[] = [];
    for (const reference of references()) {
      if (reference.at === 'elsewhere') continue;
      if (reference.at === 'nowhere' || (reference.type !== null && reference.type !== 'Patient')) {
        return { problem: 'must be Patient/[id], [id] or the absolute URL of a Patient at this server' };
      }
      // An invalid id finds nothing.
      if (isUuid(reference.id)) ids.push(reference.id);
    }
    return { kind: 'patient', ids };
  },
  rows: (resource, _, { elements }) => {
    const references = elements.map((path) => text(objectsAt(resource, path)[0]?.['reference']));
    const ids = references.map(patientIdOf).filter((one) => one !== undefined);
    const found = ids.find(isUuid);
    return found === undefined ? {} : { patient: found };
  },
  meets: (write, { ids }) => write.patient !== null && ids.includes(write.patient),
  rank: 2,
  source: (type) => (type === 'DiagnosticReport' ? STUDIES : RESOURCE),
  sql: ({ ids, found }, alias, { type, bind }) => {
    const column = type === 'DiagnosticReport' ? `${alias}_study.patient_id` : `${alias}.patient_id`;
    return found === undefined ? oneOf(column, ids, 'uuid', bind) : `${column} = ${found}`;
  },
} as const satisfies Kind<PatientCriterion>;
