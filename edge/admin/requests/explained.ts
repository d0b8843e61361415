/** Links from a rejected request to the page of the console that explains it. */
import { applicationCodeFor } from '../../../shared/hl7/error-code.ts';
import type { Config } from '../../config.ts';
import { ERRORS_PATH, issueAnchor, MLLP_PATH, REFERENCE_PATH, statusAnchor } from '../../http/reference-address.ts';
import { FHIR_ISSUES, MLLP_REFUSALS } from '../../refusals.ts';
import type { FoundRefusal } from '../../store/admin-refusal.ts';
import { linkTo } from '../web/layout.tsx';
import { PLACES } from '../web/places.ts';

interface Link {
  readonly href: string;
  readonly title: string;
}

/** A message that was judged is kept: its code is one of table 0357. */
const isMessage = ({ surface, code }: Pick<FoundRefusal, 'surface' | 'code'>): boolean =>
  (surface === 'hl7' || surface === 'mllp') && /^\d+$/.test(code);

/** A message is received before it is refused. */
const BEFORE_MS = 60_000;

/** Codes of faults in a resource; the workbench shows each fault. */
const OF_CONTENT = new Set(['structure', 'required', 'value', 'invariant', 'code-invalid', 'business-rule']);

/** @param row its quarters of an hour bound the time */
export function explainedAt(config: Config, row: FoundRefusal): Link {
  const key = linkTo(config, `${PLACES.keys.path}/${row.client_id}`);
  if (isMessage(row) && row.is_by_request_id) {
    const query = new URLSearchParams({ q: row.request_id }).toString();
    return { href: `${linkTo(config, PLACES.messages.path)}?${query}`, title: 'The message' };
  }
  if (isMessage(row)) {
    const query = {
      clientId: row.client_id,
      outcome: row.answer.startsWith('A') ? row.answer : applicationCodeFor([row.code]),
      from: new Date(Date.parse(row.first_at) - BEFORE_MS).toISOString(),
    };
    return {
      href: `${linkTo(config, PLACES.messages.path)}?${new URLSearchParams(query).toString()}`,
      title: 'The messages',
    };
  }
  if (Object.hasOwn(MLLP_REFUSALS, row.code)) return { href: key, title: 'The senders of the key' };
  if (row.surface === 'token') return { href: linkTo(config, PLACES.workbench.path), title: 'Try it in the workbench' };
  if (OF_CONTENT.has(row.code)) {
    return { href: linkTo(config, PLACES.workbench.path), title: 'Check a resource in the workbench' };
  }
  if (['invalid_token', 'insufficient_scope', 'forbidden'].includes(row.code)) {
    return { href: key, title: 'The rights of the key' };
  }
  return { href: inReference(config, row), title: 'Its meaning' };
}

/** The code, else the status, in the API reference of the gateway. */
function inReference(config: Config, { surface, answer, code }: FoundRefusal): string {
  if (!/^\d{3}$/.test(answer)) return linkTo(config, `${REFERENCE_PATH}${MLLP_PATH}#errors`);
  const isIssue = surface === 'fhir' && Object.hasOwn(FHIR_ISSUES, code);
  return linkTo(config, `${REFERENCE_PATH}${ERRORS_PATH}#${isIssue ? issueAnchor(code) : statusAnchor(answer)}`);
}
