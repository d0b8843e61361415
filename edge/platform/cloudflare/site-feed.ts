/**
 * Wakes the change feed of a site on Workers: one Durable Object per site, whose alarm serves the feed. Writes within the delay of
 * an alarm are served together. An alarm survives the end of the isolate that set it.
 */
import { DurableObject } from 'cloudflare:workers';

/** Writes within this time are served together. */
const DELAY_MS = 200;
/** For changes that are not settled yet. */
const AGAIN_MS = 500;

/** @param serve returns true if something remains; undefined if the Worker is not configured */
export const siteFeed = (serve: (site: string) => Promise<boolean | undefined>) =>
  class SiteFeed extends DurableObject {
    #hasAlarm = false;

    /** Called after a commit. */
    async wake(site: string): Promise<void> {
      if (this.#hasAlarm) return;
      this.#hasAlarm = true;
      // An alarm does not know the name of its object.
      await this.ctx.storage.put('site', site);
      await this.ctx.storage.setAlarm(Date.now() + DELAY_MS);
    }

    override async alarm(): Promise<void> {
      // A write from here on needs another alarm.
      this.#hasAlarm = false;
      const site = await this.ctx.storage.get<string>('site');
      if (site === undefined || (await serve(site)) !== true || this.#hasAlarm) return;
      this.#hasAlarm = true;
      await this.ctx.storage.setAlarm(Date.now() + AGAIN_MS);
    }
  };
