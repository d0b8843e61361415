import { describe, expect, test } from 'vitest';

import { preferOf } from '../../../edge/fhir/prefer.ts';

describe('Prefer', () => {
  test.each<[string, string, string]>([
    ['', 'representation', 'strict'],
    ['return=minimal', 'minimal', 'strict'],
    ['RETURN=OperationOutcome, handling=lenient', 'OperationOutcome', 'lenient'],
    ['respond-async; return="minimal"', 'minimal', 'strict'],
    ['return=minimal, return=representation', 'minimal', 'strict'],
    ['return=everything; handling=loose', 'representation', 'strict'],
  ])('%s', (prefer, returns, handling) => {
    expect(preferOf(new Headers({ prefer }))).toEqual({ return: returns, handling });
  });
});
