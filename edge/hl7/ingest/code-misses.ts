/**
 * Counts codes of accepted messages that the code tables of their site miss. They are collected in memory and written behind the
 * requests, and what a process has not written when it ends is lost.
 */
import { keyOfCode, type CodeMiss } from '../../store/code-table.ts';
import type { Header } from '../../../shared/hl7/header.ts';
import { COLLECT_MS, writeBehind, type Behind } from '../../http/write-behind.ts';
import type { MissingCode } from '../mapping/translate.ts';

/** Never waits nor throws. */
export type NoteMisses = (site: string, header: Header, misses: readonly MissingCode[]) => void;

/** Further codes are not counted until the next write. */
const MAX_CODES = 2000;
const MAX_CHARACTERS = 200;

const shortened = (text: string | undefined): string => (text ?? '').slice(0, MAX_CHARACTERS).toWellFormed();

/** @param write for each site with misses */
export function createMisses(
  behind: Behind,
  write: (site: string, misses: readonly CodeMiss[]) => Promise<unknown>,
): NoteMisses {
  let collected = new Map<string, Map<string, CodeMiss>>();
  let codes = 0;
  const wake = writeBehind(behind, { firstMs: COLLECT_MS, collectMs: COLLECT_MS }, async () => {
    const written = collected;
    collected = new Map();
    codes = 0;
    for (const [site, misses] of written) await write(site, [...misses.values()]);
  });
  return (site, { sendingApplication, sendingFacility }, misses) => {
    if (misses.length === 0) return;
    const ofSite = collected.get(site) ?? new Map<string, CodeMiss>();
    collected.set(site, ofSite);
    for (const { system, code, text } of misses) {
      // The table of misses has no longer codes, nor has a code table.
      if (system.length + code.length > MAX_CHARACTERS) continue;
      const key = keyOfCode({ system, code });
      const known = ofSite.get(key);
      if (known === undefined && codes >= MAX_CODES) continue;
      if (known === undefined) codes += 1;
      ofSite.set(key, {
        system,
        code,
        text: shortened(text) || (known?.text ?? ''),
        application: shortened(sendingApplication),
        facility: shortened(sendingFacility),
        messages: (known?.messages ?? 0) + 1,
      });
    }
    wake();
  };
}
