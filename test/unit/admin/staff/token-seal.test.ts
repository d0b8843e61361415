import { expect, test } from 'vitest';

import { createTokenSeal } from '../../../../edge/admin/staff/token-seal.ts';
import type { Config } from '../../../../edge/config.ts';

test('a token of the provider opens only for its session', async () => {
  const tokens = createTokenSeal({
    config: { GATEWAY_SECRET: ['q'.repeat(43)] } as Config,
    now: () => 1_800_000_000_000,
  });
  const sealed = await tokens.seal('one', 'refresh');
  expect(sealed).not.toContain('refresh');
  expect(await tokens.open('one', sealed)).toBe('refresh');
  expect(await tokens.open('another', sealed)).toBeUndefined();
  expect(await tokens.open('one', 'x')).toBeUndefined();
});
