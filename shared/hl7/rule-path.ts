/**
 * The paths of a sender's rules, as HL7 people write them: `PID-8`, `PID-3[2].4.1`, `PID-3[PID-3.5=SS]`, `NTE`,
 * `OBX[OBX-3.1=2951-2]-5`. A text in brackets selects segments or repetitions: by number, or by a value.
 */

/** The nth segment or repetition, or those with a value. */
export type Selector = { readonly number: number } | ValueSelector;

/** Selects a segment if a repetition of the field has the value, and a repetition if it has the value itself. */
export interface ValueSelector extends Place {
  /** The unescaped text; `""` is HL7's null, and an empty text selects what has no value. */
  readonly value: string;
}

/** A text inside a field. Without a component it is the first one. */
interface Place {
  readonly field: number;
  readonly component: number | undefined;
  readonly subcomponent: number | undefined;
}

export interface RulePath {
  readonly segment: string;
  /** Undefined for all segments of the name. */
  readonly segments: Selector | undefined;
  /** Undefined for the complete segment. */
  readonly field: number | undefined;
  /** Undefined for all repetitions. */
  readonly repetitions: Selector | undefined;
  /** Undefined for the complete repetition. */
  readonly component: number | undefined;
  /** Undefined for the complete component. */
  readonly subcomponent: number | undefined;
}

/** The longest value of a selector in characters. */
const MAX_VALUE_CHARACTERS = 200;
/** A path with two selectors. */
export const MAX_PATH_CHARACTERS = 500;
/** Far above the numbers of HL7; a write fills the positions before its own. */
const MAX_FIELD = 200;
const MAX_COMPONENT = 50;
/** The number of a segment or repetition. */
const MAX_NUMBER = 1000;

const PATH =
  /^([A-Z][A-Z0-9]{2})(?:\[([^\]]*)\])?(?:-([0-9]{1,3})(?:\[([^\]]*)\])?(?:\.([0-9]{1,3})(?:\.([0-9]{1,3}))?)?)?$/;
const BY_NUMBER = /^[0-9]{1,4}$/;
const BY_VALUE = /^([A-Z][A-Z0-9]{2})-([0-9]{1,3})(?:\.([0-9]{1,3})(?:\.([0-9]{1,3}))?)?=(.*)$/;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f]/;

const EXAMPLES = 'PID-8, PID-3[2].4.1, PID-3[PID-3.5=SS], NTE or OBX[OBX-3.1=2951-2]-5';

/** @returns the fault of a text that is not a path */
export function parseRulePath(text: string): RulePath | string {
  if (text.length > MAX_PATH_CHARACTERS) return `has more than ${MAX_PATH_CHARACTERS} characters`;
  const parts = PATH.exec(text);
  if (parts === null) return `${JSON.stringify(text)} is not a path: write it like ${EXAMPLES}`;
  const [, segment = '', segments, field, repetitions, component, subcomponent] = parts;
  const numbers = placeOf(field, component, subcomponent);
  if (typeof numbers === 'string') return numbers;
  const ofSegments = segments === undefined ? undefined : selectorOf(segments, segment, undefined);
  if (typeof ofSegments === 'string') return ofSegments;
  const ofRepetitions = repetitions === undefined ? undefined : selectorOf(repetitions, segment, numbers.field);
  if (typeof ofRepetitions === 'string') return ofRepetitions;
  return { segment, segments: ofSegments, repetitions: ofRepetitions, ...numbers };
}

/** @param field the field of the repetitions; undefined for segments */
function selectorOf(text: string, segment: string, field: number | undefined): Selector | string {
  if (BY_NUMBER.test(text)) {
    const number = numberOf(text, MAX_NUMBER);
    return typeof number === 'string' ? number : { number };
  }
  const [, name, ofField, component, subcomponent, value = ''] = BY_VALUE.exec(text) ?? [];
  const own = field === undefined ? `${segment}-3.1` : `${segment}-${field}.5`;
  if (name === undefined) return `[${text}] selects nothing: write a number, or a value such as [${own}=X]`;
  const numbers = placeOf(ofField, component, subcomponent);
  if (typeof numbers === 'string') return numbers;
  const isOwn = name === segment && (field === undefined || field === numbers.field);
  if (!isOwn || numbers.field === undefined) {
    return `[${text}] must name ${field === undefined ? `a field of ${segment}` : `${segment}-${field}`}, such as [${own}=X]`;
  }
  if (value.length > MAX_VALUE_CHARACTERS) return `[${own}=…] has more than ${MAX_VALUE_CHARACTERS} characters`;
  if (CONTROLS.test(value) || !value.isWellFormed()) return `[${own}=…] must not have control characters`;
  return { ...numbers, field: numbers.field, value };
}

type Numbers = Pick<RulePath, 'field' | 'component' | 'subcomponent'>;

function placeOf(field?: string, component?: string, subcomponent?: string): Numbers | string {
  const numbers = [
    numberOf(field, MAX_FIELD),
    numberOf(component, MAX_COMPONENT),
    numberOf(subcomponent, MAX_COMPONENT),
  ];
  const fault = numbers.find((number) => typeof number === 'string');
  if (typeof fault === 'string') return fault;
  const [f, c, s] = numbers.map((number) => (typeof number === 'string' ? undefined : number));
  return { field: f, component: c, subcomponent: s };
}

function numberOf(digits: string, max: number): number | string;
function numberOf(digits: string | undefined, max: number): number | string | undefined;
function numberOf(digits: string | undefined, max: number): number | string | undefined {
  if (digits === undefined) return undefined;
  const number = Number(digits);
  return number >= 1 && number <= max && !digits.startsWith('0') ? number : `${digits} must be from 1 to ${max}`;
}
