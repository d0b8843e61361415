/** The keys that sign access tokens, over JSON. */
import { signingKeysSeen } from '../../store/signing-key.ts';
import { listOf, type Operation, operation } from '../api/operation.ts';
import type { AdminDeps } from '../web/console.ts';
import { signingKeyItem, viewRing } from './ring.ts';

export function signingKeyOperations({ config, now }: AdminDeps): Operation[] {
  const ring = config.TOKEN_SIGNING_KEYS;
  return [
    operation('get', '/signing-keys', 'gateway.operate', {
      summary: 'The public keys of access tokens, the signing key first',
      answer: listOf(signingKeyItem),
      async handle({ database }) {
        const rows = await database.run(signingKeysSeen(ring.keys.map(({ kid }) => kid)));
        return { items: viewRing(ring, rows, now()), next: null };
      },
    }),
  ];
}
