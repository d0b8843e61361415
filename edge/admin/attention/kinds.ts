/** What is listed for administrators, in words: what happened, and what there is to do. */
import type { AttentionKind } from '../../store/attention.ts';

interface Words {
  readonly title: string;
  /** What happened. */
  readonly why: string;
  /** What there is to do. */
  readonly todo: string;
}

export const KIND_WORDS: Readonly<Record<AttentionKind, Words>> = {
  'possible-duplicate': {
    title: 'Possible duplicates',
    why: 'Two charts may be of one person, or one number is in both.',
    todo:
      'If they are one person, let the hospital’s system send a merge (ADT A40), or a FHIR client link one to the other ' +
      '(replaced-by): they then leave this list. If they are two, dismiss.',
  },
  'stale-correction': {
    title: 'Late corrections',
    why: 'A corrected, withdrawn or deleted result came after a newer one, and was not applied.',
    todo: 'Look whether the newer result is right. If it is, dismiss; if not, replay the message.',
  },
  'tied-withdrawal': {
    title: 'Withdrawals of one time',
    why: 'A withdrawal hides another statement about the result. Both have the same time, so either may be the later one.',
    todo: 'Check whether the result is withdrawn. If it is, dismiss; if not, replay the message that the withdrawal hides.',
  },
  'correction-unmatched': {
    title: 'Corrections without a result',
    why: 'A correction fits none of the results that are known, or several, and was stored beside them.',
    todo: 'Look which result it corrects, and have the sender name it: by order number, code and time of collection.',
  },
  'not-moved': {
    title: 'Not moved',
    why: 'A message moves an account or a visit from one patient to another. What the gateway files by patient stays with the first.',
    todo: 'Have the sender take back the results and documents of the one patient, and send them again for the other.',
  },
  'merge-unresolved': {
    title: 'Merges that were not done',
    why: 'A merge names a patient that could not be told from another.',
    todo: 'Find out which patient is meant, have the merge sent again, and dismiss.',
  },
};

/** Why two charts are listed, by the reason that the message’s finding has. */
const REASONS: Readonly<Record<string, string>> = {
  'authority-named': 'A namespace got its URI in the settings: both charts have the same number by it.',
  'alias-confirmed': 'It was confirmed what a namespace stands for: both charts have the same number by it.',
  'identifiers-of-several': 'A message names numbers of both as one patient’s.',
  'possible-duplicate': 'The same number came from another issuer, and the persons could not be told to be one.',
  'number-of-several': 'Both have the number that a message gives as its patient’s own.',
  'ambiguous-patient': 'A message’s number may mean either, and was refused.',
  'merge-of-several': 'A merge names both, but they do not look like one person.',
  'number-taken': 'A number was to become the first one’s, and is the other’s.',
  'patient-differs': 'A message with the number of one is about somebody else by name, birth date and sex.',
};

/** Of what was not moved between two patients, or to one where the other is not known. @param patients ids as they are shown */
function whyNotMoved({ from, to }: Readonly<Record<string, unknown>>, patients: readonly string[]): string {
  const name = (id: unknown): string =>
    patients.indexOf(String(id)) === 0 ? 'the first patient' : 'the second patient';
  if (patients.length < 2) {
    return 'A message moves an account or a visit to this patient, from one that is not known: nothing was moved.';
  }
  return `A message moves an account or a visit from ${name(from)} to ${name(to)}: what the gateway files by patient stays with ${name(from)}.`;
}

/** Why it is listed, in a sentence. @param patients ids as they are shown */
export const whyListed = (
  kind: AttentionKind,
  detail: Readonly<Record<string, unknown>>,
  patients: readonly string[],
): string => (kind === 'not-moved' ? whyNotMoved(detail, patients) : whyOf(kind, detail['reason']));

const whyOf = (kind: AttentionKind, reason: unknown): string =>
  (typeof reason === 'string' && Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined) ?? KIND_WORDS[kind].why;
