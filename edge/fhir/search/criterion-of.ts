/** One search parameter and its value as a criterion, or what is wrong with it (spec.md, "Search parameters"). */
import { Fault } from '../../../shared/fault.ts';
import { isUuid } from '../../../shared/uuid.ts';
import type { Criterion, Token } from '../../store/criterion.ts';
import { fold, spellNames } from '../../store/fold.ts';
import type { SearchParameter } from '../resource-types.ts';
import { instantInterval } from './date.ts';
import { alternatives, isEmptyToken, tokens } from './values.ts';

export interface CriterionContext {
  /** Our own `{base}/fhir`. */
  readonly root: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const GENDER_SYSTEM = 'http://hl7.org/fhir/administrative-gender';
const GENDERS = ['male', 'female', 'other', 'unknown'];
const BIRTH_DATE = /^(?:eq)?(\d{4}(?:-\d\d(?:-\d\d)?)?)$/;
const PREFIXED = /^(?:ne|gt|lt|ge|le|sa|eb|ap)\d/;

/** A parameter that cannot be used as it was given: 400, naming it. */
export function badParameter(name: string, message: string, code = 'value'): Fault {
  return new Fault('malformed', message, { issues: [{ code, message, at: `http.${name}` }] });
}

/** The alternatives, none of them empty. */
function tokensOf(name: string, value: string): Token[] {
  const any = tokens(value);
  if (any.some(isEmptyToken)) throw badParameter(name, `${name} has a value with neither system nor code`);
  return any;
}

function genderCodes(any: readonly Token[]): string[] {
  return any.flatMap((token) => {
    // The system of an element of type code is implied: `|male` asks for none (R4 search, token).
    if (token.system !== null && token.system !== GENDER_SYSTEM) return [];
    return token.value === null ? GENDERS : [token.value];
  });
}

const reportStates = ({ value }: Token): ('completed' | 'draft')[] =>
  value === null ? ['completed', 'draft'] : [value === 'final' ? 'completed' : 'draft'];

function birthDate(name: string, text: string): string {
  const date = BIRTH_DATE.exec(text)?.[1];
  if (date !== undefined) return date;
  throw badParameter(
    name,
    PREFIXED.test(text)
      ? `${name} is compared exactly: of the prefixes only eq can be used`
      : `${name} must be a date: YYYY, YYYY-MM or YYYY-MM-DD`,
  );
}

/** The ids of `Patient/id`, `id` or `{root}/Patient/id`; those that cannot be ours find nothing. */
function patientIds(name: string, value: string, root: string): string[] {
  return alternatives(value).flatMap((text) => {
    const relative = text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text;
    if (/^[a-z][a-z0-9+.-]*:/i.test(relative)) return [];
    const [type, id, ...rest] = relative.includes('/') ? relative.split('/') : ['Patient', relative];
    if (type !== 'Patient' || id === undefined || id === '' || rest.length > 0) {
      throw badParameter(name, `${name} must be Patient/[id], [id] or the absolute URL of a Patient at this server`);
    }
    return isUuid(id) ? [id] : [];
  });
}

function nameFragment(name: string, text: string): string {
  const folded = fold(text);
  if (folded === '') throw badParameter(name, `${name} must contain a letter or another visible character`);
  return spellNames(folded);
}

/**
 * @param name the parameter's name, for messages
 * @param value as sent, URL-decoded
 * @throws Fault `malformed` that locates the parameter
 */
export function criterionOf(
  name: string,
  parameter: SearchParameter,
  value: string,
  context: CriterionContext,
): Criterion {
  if (value === '') throw badParameter(name, `${name} has no value`, 'required');
  if (value.includes('\0')) throw badParameter(name, `${name} contains a NUL character`);
  switch (parameter.kind) {
    case 'id':
      return { kind: 'id', ids: alternatives(value).filter(isUuid) };
    case 'last-updated':
      return {
        kind: 'last-updated',
        any: alternatives(value).map((text) => {
          const interval = instantInterval(text, context.now);
          if (interval !== undefined) return interval;
          throw badParameter(
            name,
            `${name} must be a date or dateTime such as ge2026-01-31T12:00:00Z; a + in a URL is written %2B`,
          );
        }),
      };
    case 'identifier':
      return { kind: 'identifier', any: tokensOf(name, value) };
    case 'token':
      return { kind: 'token', param: name, any: tokensOf(name, value) };
    case 'patient':
      return { kind: 'patient', ids: patientIds(name, value, context.root) };
    case 'name':
      return { kind: 'name', fragments: alternatives(value).map((text) => nameFragment(name, text)) };
    case 'birthdate':
      return { kind: 'birthdate', dates: alternatives(value).map((text) => birthDate(name, text)) };
    case 'gender':
      return { kind: 'gender', codes: genderCodes(tokensOf(name, value)) };
    case 'report-state':
      return { kind: 'report-state', states: tokensOf(name, value).flatMap(reportStates) };
  }
}
