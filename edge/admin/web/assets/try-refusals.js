/* Shows the rejected requests and the check list of a key. */
import { badge, make, quiet, section, table, when } from './try-elements.js';

const SURFACES = { token: 'Token', fhir: 'FHIR', hl7: 'HL7 over HTTP', mllp: 'HL7 over MLLP' };

/** The sections of rejected requests and of the check list. */
export function refusalsView({ refusals, checkList: { steps, types } }) {
  return [
    section(
      'Rejected and failed requests',
      refusals.length === 0
        ? quiet('No request was rejected. A request is in the list after some seconds.')
        : table(
            'Rejected and failed requests',
            ['Last time', 'Answer', 'Requests', 'Reason', 'Next step'],
            refusals.map(({ surface, answer, outcome, code: check, reason, hint, requests, lastAt, requestId }) => ({
              cells: [
                when(lastAt),
                [badge(outcome === 'failed' ? 'bad' : 'warn', answer), ` ${SURFACES[surface] ?? surface}`],
                requests.toLocaleString('en'),
                [make('p', {}, reason || check), make('small', {}, `${check}, request ${requestId}`)],
                hint ?? '',
              ],
            })),
          ),
    ),
    section(
      'Go-live check list',
      quiet(`${steps.filter(({ done }) => done).length} of ${steps.length} seen`),
      table(
        'Go-live check list',
        ['Step', 'Seen', 'Next'],
        steps.map(({ title, done, at, todo }) => ({
          cells: [
            title,
            [done ? badge('good', '✓ yes') : badge('plain', 'not yet'), ' ', at === null ? null : when(at)],
            todo ?? '',
          ],
        })),
      ),
      types.length === 0
        ? null
        : table(
            'Types of the newest 1,000 messages',
            ['Type', 'Accepted', 'Rejected', 'Last'],
            types.map(({ type, accepted, rejected, lastAt }) => ({
              cells: [type || 'unreadable', `${accepted}`, `${rejected}`, when(lastAt)],
            })),
          ),
    ),
  ];
}
