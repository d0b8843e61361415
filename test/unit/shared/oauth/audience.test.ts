/** Row 64 of what the token service refuses: audience. */
import { describe, expect, test } from 'vitest';

import { chooseAudience } from '../../../../shared/oauth/audience.ts';

describe('audience', () => {
  const all = ['fhir', 'hl7'];
  test.each<[string | undefined, string[], string[], string]>([
    [undefined, [], all, 'svc-fhir'],
    [undefined, ['svc-hl7-http', 'svc-fhir'], all, 'svc-hl7-http'],
    ['svc-hl7-http', [], all, 'svc-hl7-http'],
    ['svc-fhir', ['svc-hl7-http', 'svc-fhir'], ['fhir'], 'svc-fhir'],
  ])('%s of %j with %j: %s', (requested, allowed, protocols, audience) => {
    expect(chooseAudience(requested, allowed, protocols)).toEqual({ audience });
  });
  test.each<[string | undefined, string[], string[], RegExp]>([
    ['svc-other', [], all, /not known/],
    ['constructor', [], all, /not known/],
    ['svc-fhir', ['svc-hl7-http'], all, /not among the Allowed audiences/],
    ['svc-hl7-http', [], ['fhir'], /needs protocol hl7/],
    [undefined, [], ['hl7-mllp'], /when none is requested, needs protocol fhir/],
  ])('64: %s of %j with %j is rejected', (requested, allowed, protocols, reason) => {
    expect(chooseAudience(requested, allowed, protocols)).toMatchObject({ reason: expect.stringMatching(reason) });
  });
});
