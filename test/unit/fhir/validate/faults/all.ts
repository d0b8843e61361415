/** Resources with exactly one fault each, and where it has to be found. Each is a small valid resource with one change. */
import { INVARIANT } from './invariants.ts';
import { NARRATIVE } from './narrative.ts';
import { CARRIED, CONTAINED, REFERENCE } from './references.ts';
import { CARDINALITY, SHAPE } from './shape.ts';
import type { Fault } from './valid.ts';
import { BINDING, PRIMITIVE } from './values.ts';

export const FAULTS: readonly Fault[] = [
  ...SHAPE,
  ...CARDINALITY,
  ...PRIMITIVE,
  ...BINDING,
  ...REFERENCE,
  ...CONTAINED,
  ...CARRIED,
  ...NARRATIVE,
  ...INVARIANT,
];
