/** `npm run admin -- patient erase SITE ID`: lists the affected rows, asks twice, and erases one patient of a site. */
import { createInterface } from 'node:readline';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { type ErasureRow, erasePatient } from '../../store/patient-erasure.ts';
import type { Terminal } from './program.ts';

/** The answer to the second question. */
const WORD = 'erase';

/** @throws Fault for a patient that cannot be erased */
function countsOf(rows: readonly ErasureRow[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    if (row.refusal === 'legal-hold')
      throw new Fault('conflict', 'the site is under legal hold: patients cannot be erased');
    if (row.refusal === 'missing') throw new Fault('not-found', 'the site has no such patient');
    if (row.refusal === 'merged') {
      throw new Fault('conflict', `it was merged into ${row.what}: erase that patient, which includes this one`);
    }
    if (row.refusal === null) counts[row.what] = row.number;
  }
  return counts;
}

/**
 * Erases a patient, the patients merged into it and all of their data, in one transaction.
 *
 * @param database writes a row of the audit for the erasure
 * @param ask returns the answer to a question; undefined without an answer
 * @returns the numbers of erased rows by kind
 * @throws Fault for a patient that cannot be erased, or if an answer is wrong
 */
export async function erase(
  database: Database,
  site: string,
  patient: string,
  ask: (question: string) => Promise<string | undefined>,
): Promise<object> {
  if (!isUuid(patient)) throw new Fault('not-found', 'the site has no such patient');
  const would = countsOf(await database.run(erasePatient(site, patient, false)));
  const lines = Object.entries(would).map(([what, number]) => `  ${number} ${what}\n`);
  const said =
    `These rows of Patient/${patient} will be erased or emptied permanently:\n${lines.join('')}` +
    'Messages that also concern other patients lose their bytes too. The records of those patients stay.\n' +
    'Backups and copies at clients are not erased. A later message creates the patient again.\n';
  const unsure = () => new Fault('invalid', 'nothing was erased');
  if ((await ask(`${said}Type the id of the patient to continue: `)) !== patient) throw unsure();
  if ((await ask(`Type ${WORD} to erase it: `)) !== WORD) throw unsure();
  return { site, patient, erased: countsOf(await database.run(erasePatient(site, patient, true))) };
}

/** Asks on standard error and reads answers from standard input, one line each; `close` lets the program end. */
export function questionsOn({ input, errors }: Terminal) {
  const lines = createInterface({ input });
  const answers = lines[Symbol.asyncIterator]();
  return {
    ask: async (question: string): Promise<string | undefined> => {
      errors.write(question);
      const { value, done } = await answers.next();
      return done === true ? undefined : value.trim();
    },
    close: () => lines.close(),
  };
}
