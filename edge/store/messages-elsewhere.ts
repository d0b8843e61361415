/** Other results for a search among messages. If nothing was found, they suggest another search. */
import type { Query } from '../deps.ts';
import type { PatientText } from './message-key.ts';
import { BEHIND_ALL, containing } from './search/like.ts';
import { binder, siteOf } from './sql.ts';

/** More are not counted. */
export const MAX_ELSEWHERE = 100;

export interface ElsewhereRow {
  /** Messages of any time in which a patient has the text as an identifier. */
  readonly numbers: number;
  /** Messages with a name of which a word begins with the text. */
  readonly names: number;
  /** Messages whose control id contains the text. */
  readonly control_ids: number;
}

/**
 * @param patient the text as an identifier and as a name; null if it can be neither
 * @param text a part of the control id; '' for none
 */
export function messagesElsewhere(site: string, patient: PatientText | null, text: string): Query<ElsewhereRow> {
  const { params, bind } = binder();
  const counted = (source: () => string): string =>
    `(select count(*)::integer from (${source()} limit ${MAX_ELSEWHERE}) x)`;
  const keys = (condition: () => string) =>
    counted(
      () =>
        `select from hl7_message_key r where r.site_id = ${siteOf(bind, site)} and ${condition()} order by r.key, r.received_at`,
    );
  const number = patient?.number ?? null;
  const [word] = patient?.terms ?? [];
  const numbers = number === null ? '0' : keys(() => `r.key = ${bind(number)}`);
  const names = word === undefined ? '0' : keys(() => `r.key >= ${bind(word)} and r.key < ${bind(word + BEHIND_ALL)}`);
  const controlIds =
    text === ''
      ? '0'
      : counted(
          () =>
            `select from hl7_message_here m where m.site_id = ${siteOf(bind, site)} and lower(m.control_id) like lower(${bind(containing(text))})`,
        );
  return {
    text: `select ${numbers} as numbers, ${names} as names, ${controlIds} as control_ids`,
    params,
    reads: true,
    planAnew: true,
  };
}
