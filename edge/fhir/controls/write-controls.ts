/**
 * The parameters in the URL of interactions that are not searches. A write accepts only controls: any other parameter might be
 * a condition, and a condition that is ignored creates a second resource. So `handling=lenient`, which applies to searches
 * (FHIR R4 search, 3.1.1.3), changes nothing here.
 */
import { Fault } from '../../../shared/fault.ts';
import { addControl, FORM_CONTROLS } from './controls.ts';
import { collect, type Pair, unsupported } from './faults.ts';

/** Hints for clients, by interaction. */
const HINTS = {
  create: 'send the condition of a create as If-None-Exist',
  update: 'for a conditional update send PUT [type]?[search parameters], without an id',
  patch: 'for a conditional patch send PATCH [type]?[search parameters], without an id',
  bundle: 'put searches into the entries',
} as const;

/**
 * @param pairs the parameters of the URL
 * @param hint for the client, added to each message
 * @returns the values by name
 * @throws Fault `malformed` locating each parameter that is not allowed, or is given twice
 */
export function strictControls(pairs: readonly Pair[], allowed: readonly string[], hint: string): Map<string, string> {
  const given = new Map<string, string>();
  collect(pairs, (pair) => {
    if (allowed.includes(pair[0])) return addControl(given, pair);
    const { message, ...issue } = unsupported(pair[0], allowed);
    const explained = `${message}; ${hint}`;
    throw new Fault('malformed', explained, { issues: [{ ...issue, message: explained }] });
  });
  return given;
}

/** @throws Fault `malformed` locating each parameter that is not one of FORM_CONTROLS, or is given twice */
export function requireFormControls(pairs: readonly Pair[], interaction: keyof typeof HINTS): void {
  strictControls(pairs, FORM_CONTROLS, HINTS[interaction]);
}

/** The condition of `PUT [type]?…` or `PATCH [type]?…`: the query without FORM_CONTROLS. */
export function conditionOf(pairs: readonly Pair[]): string {
  const controls = pairs.filter(([name]) => FORM_CONTROLS.includes(name));
  requireFormControls(controls, 'update');
  const conditions = pairs.filter(([name]) => !FORM_CONTROLS.includes(name));
  return new URLSearchParams(conditions.map(([name, value]) => [name, value])).toString();
}
