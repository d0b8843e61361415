/** `npm run admin -- patient erase SITE ID`: says what it will touch, asks twice, and erases one person of a site. */
import { createInterface } from 'node:readline';
import process from 'node:process';

import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Database } from '../../deps.ts';
import { type ErasureRow, erasePatient } from '../../store/patient-erasure.ts';

/** What is typed at the second question. */
const WORD = 'erase';

/** @throws Fault for a patient that cannot be erased */
function countsOf(rows: readonly ErasureRow[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    if (row.refusal === 'legal-hold') throw new Fault('conflict', 'the site is under legal hold: nobody is erased');
    if (row.refusal === 'missing') throw new Fault('not-found', 'the site has no such patient');
    if (row.refusal === 'merged') {
      throw new Fault('conflict', `it was merged into ${row.what}: erase that one, and this goes with it`);
    }
    if (row.refusal === null) counts[row.what] = row.number;
  }
  return counts;
}

/**
 * Erases a patient, those merged into it and all that is about them, in one transaction.
 *
 * @param database whose database leaves a row of the audit for what is erased
 * @param ask what is answered to a question; undefined where nobody answers
 * @returns how many of what it erased
 * @throws Fault for a patient that cannot be erased, and where the answers are others
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
    `Of Patient/${patient} these rows would be erased or emptied, for good:\n${lines.join('')}` +
    'Of messages that also tell of others the bytes go too; the records of those others stay.\n' +
    'Backups, and what clients have taken, are not reached; a message that comes later makes the patient anew.\n';
  const unsure = () => new Fault('invalid', 'nothing was erased');
  if ((await ask(`${said}Type the id of the patient to go on: `)) !== patient) throw unsure();
  if ((await ask(`Type ${WORD} to erase it: `)) !== WORD) throw unsure();
  return { site, patient, erased: countsOf(await database.run(erasePatient(site, patient, true))) };
}

/** Questions on standard error, answers from standard input, a line each; `close` lets the program end. */
export function openTerminal() {
  const lines = createInterface({ input: process.stdin });
  const answers = lines[Symbol.asyncIterator]();
  return {
    ask: async (question: string): Promise<string | undefined> => {
      process.stderr.write(question);
      const { value, done } = await answers.next();
      return done === true ? undefined : value.trim();
    },
    close: () => lines.close(),
  };
}
