/**
 * Collects the faults of one resource with their places. The walker keeps the place as a list of steps, so that a
 * resource without faults builds no path text.
 */
import type { Issue } from '../../../shared/fault.ts';

/** More would not help the developer and could be as large as the body. */
export const MAX_ISSUES = 100;
/** The parser bounds the nesting of JSON, but a value built in memory may be deeper. In steps: `name`, `0`, `given`. */
const MAX_STEPS = 128;
/** A member name in a path; a longer one is cut. */
const MAX_NAME_CHARACTERS = 64;

/** A choice among types, which `value[x]` is: the step names the type that was chosen (FHIRPath N1, ofType). */
interface ChoiceStep {
  readonly name: string;
  readonly type: { readonly name: string };
}

type Step = string | number | ChoiceStep;

export interface Findings {
  readonly issues: readonly Issue[];
  /** Enters an element or an index; false beyond the greatest depth. */
  readonly enter: (step: Step) => boolean;
  readonly leave: () => void;
  /** Adds a fault at this place, or at a path below it. */
  readonly add: (code: string, message: string, below?: string) => void;
}

/** The name as a step of a FHIRPath expression: plain, or in backticks (FHIRPath N1, Identifiers). */
function printName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name)) return `.${name}`;
  const cut = name.slice(0, MAX_NAME_CHARACTERS).toWellFormed();
  return `.\`${JSON.stringify(cut).slice(1, -1).replaceAll('`', '\\`')}\``;
}

function printStep(step: Step): string {
  if (typeof step === 'number') return `[${step}]`;
  if (typeof step === 'string') return printName(step);
  // A SimpleQuantity is a Quantity by its type and only by its profile a simple one.
  const type = step.type.name === 'SimpleQuantity' ? 'Quantity' : step.type.name;
  return `.${step.name}.ofType(${type})`;
}

/** @param root the resource type, with which every path starts */
export function createFindings(root: string): Findings {
  const issues: Issue[] = [];
  const steps: Step[] = [];
  let isTooDeep = false;

  const here = (): string => root + steps.map(printStep).join('');

  const add: Findings['add'] = (code, message, below) => {
    if (issues.length >= MAX_ISSUES) return;
    issues.push({ code, message, at: below === undefined ? here() : `${here()}.${below}` });
  };

  return {
    issues,
    add,
    enter: (step) => {
      steps.push(step);
      if (steps.length <= MAX_STEPS) return true;
      if (!isTooDeep) add('structure', 'is nested too deeply');
      isTooDeep = true;
      return false;
    },
    leave: () => {
      steps.pop();
    },
  };
}
