/** The addresses on the public internet: one of each of IANA's special-purpose ranges, and their neighbours. */
import { describe, expect, test } from 'vitest';

import { isPublicAddress } from '../../../edge/http/public-address.ts';
import { PRIVATE_ADDRESSES, PUBLIC_ADDRESSES } from '../../inputs/foreign-urls.ts';

describe('isPublicAddress', () => {
  test.each(PUBLIC_ADDRESSES)('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each(PRIVATE_ADDRESSES)('%j is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
