/**
 * Single use of client assertions on Workers: one SQLite Durable Object per API key. An object runs one call at a time, and
 * the insert is synchronous, so exactly one of several simultaneous claims succeeds. Its answer is sent only after the row
 * is on disk (output gate), so a claim survives a restart.
 */
import { DurableObject } from 'cloudflare:workers';

import type { JtiStore as JtiStorePort } from '../../deps.ts';
import type { Outage } from '../../http/outage.ts';
import { attemptClaim } from '../claim.ts';

/** Live claims of one key: 2,000 tokens a second for the seven minutes of a claim. Above it no token is issued. */
const MAX_CLAIMS = 1_000_000;
/** The minimum time between two deletions of expired claims, so that a busy key does not delete constantly. */
const SWEEP_INTERVAL_MS = 60_000;

export class JtiStore extends DurableObject {
  readonly #sql: SqlStorage;
  #claims = 0;
  #hasAlarm = false;

  constructor(state: DurableObjectState, env: Cloudflare.Env) {
    super(state, env);
    this.#sql = state.storage.sql;
    void state.blockConcurrencyWhile(async () => {
      this.#sql.exec(`create table if not exists claim (hash text primary key, attempt text not null,
        expires integer not null) without rowid`);
      this.#claims = this.#sql.exec<{ n: number }>('select count(*) as n from claim').one().n;
      this.#hasAlarm = (await state.storage.getAlarm()) !== null;
    });
  }

  /** Implements the port of this name; `expires` in seconds since the epoch. */
  claim(hash: string, expires: number, attempt: string): boolean {
    if (this.#claims >= MAX_CLAIMS) throw new Error('too many live claims');
    const { rowsWritten } = this.#sql.exec(
      'insert into claim (hash, attempt, expires) values (?, ?, ?) on conflict do nothing',
      hash,
      attempt,
      expires,
    );
    if (rowsWritten === 0) {
      const [found] = this.#sql.exec<{ attempt: string }>('select attempt from claim where hash = ?', hash).toArray();
      return found?.attempt === attempt;
    }
    this.#claims += 1;
    if (!this.#hasAlarm) {
      this.#hasAlarm = true;
      void this.ctx.storage.setAlarm(expires * 1000);
    }
    return true;
  }

  /** Deletes expired claims, and sets the next alarm if claims remain. */
  override async alarm(): Promise<void> {
    this.#sql.exec('delete from claim where expires <= ?', Math.floor(Date.now() / 1000));
    const { n, next } = this.#sql
      .exec<{ n: number; next: number | null }>('select count(*) as n, min(expires) as next from claim')
      .one();
    this.#claims = n;
    this.#hasAlarm = next !== null;
    if (next !== null) await this.ctx.storage.setAlarm(Math.max(next * 1000, Date.now() + SWEEP_INTERVAL_MS));
  }
}

/** The port over a namespace of these objects, found by client id. */
export function durableJtiStore(namespace: DurableObjectNamespace<JtiStore>, outage: Outage): JtiStorePort {
  return {
    async claim(clientId, jtiHash, expires, attempt) {
      try {
        // A failed stub stays broken, so each attempt gets a new one.
        const claimed = await attemptClaim(async () => namespace.getByName(clientId).claim(jtiHash, expires, attempt));
        outage.answered();
        return claimed;
      } catch (error) {
        outage.failed();
        throw error;
      }
    },
  };
}
