/**
 * The parameters in the URL of what is no search. A write knows only those that say how its answer looks: any other might
 * have been meant as a condition, and a condition that is not looked at makes a second resource. So `handling=lenient`,
 * which is of searches (FHIR R4 search, 3.1.1.3), changes nothing here.
 */
import { Fault } from '../../../shared/fault.ts';
import { addControl, FORM_CONTROLS } from './controls.ts';
import { collect, type Pair, unsupported } from './faults.ts';

/** What the sender probably wanted, by interaction. */
const HINTS = {
  create: 'the condition of a create is sent as If-None-Exist',
  update: 'a conditional update is PUT [type]?[search parameters], without an id',
  patch: 'a conditional patch is PATCH [type]?[search parameters], without an id',
  bundle: 'what is searched stands in the entries',
} as const;

/**
 * @param pairs of the URL
 * @param hint what the sender probably wanted
 * @returns them by name
 * @throws Fault `malformed` locating each that is not allowed, or is given twice
 */
export function strictControls(pairs: readonly Pair[], allowed: readonly string[], hint: string): Map<string, string> {
  const given = new Map<string, string>();
  collect(pairs, (pair) => {
    if (allowed.includes(pair[0])) return addControl(given, pair);
    const { message, ...issue } = unsupported(pair[0], allowed);
    const told = `${message}; ${hint}`;
    throw new Fault('malformed', told, { issues: [{ ...issue, message: told }] });
  });
  return given;
}

/** @throws Fault `malformed` locating each parameter that is no control of the answer's form, or is given twice */
export function requireFormControls(pairs: readonly Pair[], interaction: keyof typeof HINTS): void {
  strictControls(pairs, FORM_CONTROLS, HINTS[interaction]);
}

/** The query of `PUT [type]?…` or `PATCH [type]?…` without the controls of the answer's form: its condition. */
export function conditionOf(pairs: readonly Pair[]): string {
  const controls = pairs.filter(([name]) => FORM_CONTROLS.includes(name));
  requireFormControls(controls, 'update');
  const conditions = pairs.filter(([name]) => !FORM_CONTROLS.includes(name));
  return new URLSearchParams(conditions.map(([name, value]) => [name, value])).toString();
}
