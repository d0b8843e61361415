/** Which key an MLLP message is of (`edge/hl7/sender/select-key.ts` decides), and what its administrators learn when none is. */
import { selectKey, type Explanation, type MllpKey } from './select-key.ts';
import { uuidv7 } from '../../../shared/uuid.ts';
import type { Deps } from '../../deps.ts';
import type { SenderRow } from '../../store/hl7.ts';
import { recordRefusal } from '../../store/refusal.ts';
import type { SelectSender } from '../ingest/locate.ts';

export interface Refusal {
  readonly refused: 'no-key' | 'ambiguous';
  readonly reason: string;
  readonly explainTo: readonly Explanation[];
}

interface Candidate extends MllpKey {
  readonly row: SenderRow;
}

const candidateOf = (row: SenderRow): Candidate => ({
  row,
  clientId: row.client_id,
  site: row.site_id,
  status: row.status,
  protocols: row.protocols,
  allowedIps: row.allowed_ips,
  senderApplication: row.hl7_sender_application,
  senderFacility: row.hl7_sender_facility,
});

/** @param onRefusal called when no key is meant, or two of different sites are */
export function senderAt(address: string, onRefusal: (refusal: Refusal) => void): SelectSender {
  return (rows, { header }) => {
    const selected = selectKey(rows.map(candidateOf), {
      address,
      sendingApplication: header.sendingApplication ?? '',
      sendingFacility: header.sendingFacility ?? '',
    });
    if ('key' in selected) return selected.key.row;
    onRefusal(selected);
    return undefined;
  };
}

/** Keeps the reasons for the administrators, off the response path. */
export function recordRefusals(deps: Deps, refusal: Refusal, sourceAddress: string, requestId: string): void {
  deps.log({
    level: 'warn',
    event: 'mllp.refused',
    requestId,
    sourceAddress,
    fault: refusal.refused,
    detail: refusal.reason,
  });
  if (refusal.explainTo.length === 0) return;
  const queries = refusal.explainTo.map(({ clientId, reason }) =>
    recordRefusal({
      id: uuidv7(deps.now()),
      clientId,
      surface: 'mllp',
      requestId,
      sourceAddress,
      code: refusal.refused,
      reason,
    }),
  );
  deps.background(deps.database.batch(queries));
}
