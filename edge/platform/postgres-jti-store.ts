/** Single use of client assertions in PostgreSQL, on runtimes without Durable Objects: the primary key decides which is first. */
import { claimJti } from '../store/token.ts';
import type { Database, JtiStore } from '../deps.ts';
import { attemptClaim } from './claim.ts';

export function postgresJtiStore(database: Database): JtiStore {
  return {
    claim: (clientId, jtiHash, expires, attempt) =>
      attemptClaim(async () => {
        const [row] = await database.run(claimJti(clientId, jtiHash, expires, attempt));
        return row?.first ?? false;
      }),
  };
}
