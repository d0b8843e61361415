/** The Groups that the gateway accepts (edge/docs/behaviour.md, FHIR, Groups): static lists of patients of the site. */
import { Fault, type Issue } from '../../shared/fault.ts';
import type { JsonObject } from '../../shared/json.ts';
import { memberId } from '../store/group.ts';
import { objectsAt } from '../store/search/at-path.ts';

const MAX_ISSUES = 100;
const PERIOD = 'the period of a member is not supported: leave it out, and remove the member when it ends';

function* faultsOf(group: JsonObject): Generator<Issue> {
  const fault = (element: string, message: string): Issue => ({
    code: 'business-rule',
    message,
    at: `Group.${element}`,
  });
  if (group['type'] !== 'person') yield fault('type', 'only groups of patients are supported: type must be person');
  if (group['actual'] !== true) yield fault('actual', 'only lists of members are supported: actual must be true');
  for (const [n, member] of objectsAt(group, 'member').entries()) {
    const at = `member[${n}]`;
    if (memberId(member) === undefined) {
      yield fault(`${at}.entity`, 'a member must be a Patient of this site: refer to Patient/[id]');
    }
    if (member['period'] !== undefined) yield fault(`${at}.period`, PERIOD);
  }
}

/**
 * The database checks if the patients exist.
 *
 * @param group validated, references relative
 * @throws Fault `invalid` (422) for a Group that is not a list of patients
 */
export function requireListOfPatients(group: JsonObject): void {
  const issues = [...faultsOf(group)].slice(0, MAX_ISSUES);
  if (issues[0] !== undefined) throw new Fault('invalid', issues[0].message, { issues });
}
