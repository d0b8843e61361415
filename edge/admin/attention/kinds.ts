/** The texts of each kind of issue, and the reasons why two patients are listed. */
import type { AttentionKind } from '../../store/attention.ts';

/**
 * The step that settles an issue. `merge`: hand a merge message to the registration system. `replay`: replay the message.
 * `decide-namespace`: confirm or reject a URI under Names. `ask-sender`: the sender must send something.
 */
export const NEXT_STEPS = ['merge', 'replay', 'decide-namespace', 'ask-sender'] as const;
type NextStep = (typeof NEXT_STEPS)[number];

interface KindText {
  readonly title: string;
  readonly why: string;
  readonly next: NextStep;
  readonly todo: string;
}

export const KIND_TEXTS: Readonly<Record<AttentionKind, KindText>> = {
  'possible-duplicate': {
    title: 'Possible duplicates',
    why: 'Two patient records may be of one person, or one identifier is in both.',
    next: 'merge',
    todo: 'If they are one person, hand the merge message to the registration system. If they are two persons, dismiss.',
  },
  'stale-correction': {
    title: 'Late corrections',
    why: 'A corrected, withdrawn or deleted result arrived after a newer one and was not applied.',
    next: 'replay',
    todo: 'Check whether the newer result is right. If it is, dismiss; if not, replay the message.',
  },
  'tied-result': {
    title: 'Results with the same time',
    why: 'Two values, or a withdrawal and a value, have the same time, so either may be the later one.',
    next: 'replay',
    todo: 'Check whether the newer result is right. If it is, dismiss; if not, replay the message.',
  },
  'correction-unmatched': {
    title: 'Corrections without a result',
    why: 'A correction matches no stored result, or several, and was stored as a new result. Or several documents have one number.',
    next: 'ask-sender',
    todo: 'Find the result that it corrects. Ask the sender to send its order number, code and time of collection, or the authority of the number.',
  },
  'result-unclear': {
    title: 'Unclear versions of a result',
    why:
      'It is unclear which of several results with one order number, code and time replaces another. A text is much shorter, or ' +
      'messages with results below final arrived out of order.',
    next: 'ask-sender',
    todo: 'Compare them. If all are valid, ask the sender for one text, or for OBX-4; if one is wrong, ask the sender to withdraw it.',
  },
  'result-missing': {
    title: 'Results that are no longer sent',
    why: 'A newer final message of the order no longer has a final result. The result was kept.',
    next: 'ask-sender',
    todo: 'If its status is right, dismiss. If not, ask the sender to withdraw it (OBX-11 W), or to send it again.',
  },
  'preliminary-left': {
    title: 'Preliminary results left',
    why: 'A preliminary and a final result of one order have an equal code, but their keys differ.',
    next: 'ask-sender',
    todo: 'If the final result replaces the preliminary one, ask the sender to withdraw the preliminary result. If not, dismiss.',
  },
  'not-moved': {
    title: 'Not moved',
    why: 'A message moves an account or a visit from one patient to another. Resources of the first patient stay there.',
    next: 'ask-sender',
    todo: 'Ask the sender to cancel the results and documents for the first patient and to resend them for the second.',
  },
  'merge-unresolved': {
    title: 'Merges that were not applied',
    why: 'A merge names a patient that the gateway could not identify.',
    next: 'merge',
    todo: 'If both are one person, hand the merge message to the registration system. If not, dismiss.',
  },
  'stale-merge': {
    title: 'Late merges and links',
    why:
      'A merge, link or unlink is older than another statement about its patients, and was not applied. The newer statement ' +
      'merged them in the other direction, undid a merge, linked them or unlinked them.',
    next: 'replay',
    todo:
      'Check which statement is right. If it is the newer one, dismiss; if not, replay the message and apply it although newer ' +
      'data exist.',
  },
  'undo-unclear': {
    title: 'Undone merges',
    why:
      'A merge was undone. Some resources changed since the merge in a way that does not show whose they are, and stayed with ' +
      'the survivor.',
    next: 'ask-sender',
    todo:
      'Check each resource that is listed. If it is of the other patient, ask the sender to resend it under the right ' +
      'identifier, and to withdraw this one. Then dismiss.',
  },
  'namespace-contested': {
    title: 'Namespaces with several URIs',
    why: 'Messages of one API key have several URIs for one namespace, so the namespace alone identifies no patient.',
    next: 'decide-namespace',
    todo: 'Confirm the right URI under Names, or ask the sender to send the URI with each identifier.',
  },
};

/** Why two patients are listed, by the reason of the finding. */
const REASONS: Readonly<Record<string, string>> = {
  'authority-named': 'A namespace got its URI in the settings. With it, both have the same identifier.',
  'alias-confirmed': 'An administrator confirmed the URI of a namespace. With it, both have the same identifier.',
  'identifiers-of-several': 'A message has identifiers of both for one patient.',
  'possible-duplicate':
    'The same identifier value has another assigning authority, and name and birth date do not show that they are one person.',
  'number-of-several': 'Both have the identifier of a message.',
  'ambiguous-patient': 'The identifier of a message matches both. The message was rejected.',
  'merge-of-several': 'A merge names both, but their data differs too much for one person.',
  'number-taken': 'A message moves an identifier to the first patient, but the second has it.',
  'number-reassigned':
    'The identifier of one patient now belongs to the other, whose name or birth date is another one.',
  'patient-differs': 'A message with the identifier of one patient has another name, birth date and sex.',
  'parent-changed':
    'The parent (OBR-26), such as an organism, changed after this result. Below final the result was withdrawn.',
  unmerged: 'An administrator undid the merge of both.',
  alike: 'Both have the same name, birth date, sex and address, but different identifiers.',
};

/** The sentence for a move between two patients, or from an unknown patient. @param patients ids in the order of the page */
function whyNotMoved({ from, to }: Readonly<Record<string, unknown>>, patients: readonly string[]): string {
  const name = (id: unknown): string =>
    patients.indexOf(String(id)) === 0 ? 'the first patient' : 'the second patient';
  if (patients.length < 2) {
    return 'A message moves an account or a visit to this patient from an unknown patient. Nothing was moved.';
  }
  return `A message moves an account or a visit from ${name(from)} to ${name(to)}. The resources stay with ${name(from)}.`;
}

/** A sentence about an issue. @param patients ids in the order of the page */
export const whyListed = (
  kind: AttentionKind,
  detail: Readonly<Record<string, unknown>>,
  patients: readonly string[],
): string => (kind === 'not-moved' ? whyNotMoved(detail, patients) : whyOf(kind, detail['reason']));

const whyOf = (kind: AttentionKind, reason: unknown): string =>
  (typeof reason === 'string' && Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined) ?? KIND_TEXTS[kind].why;
