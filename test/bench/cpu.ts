/** The CPU time of another process, for figures per request and per message. */
import { readFileSync } from 'node:fs';

/** Linux counts a process's CPU time in ticks of 10 ms (proc(5), fields 14 and 15; 16 and 17 of children that have ended). */
const TICK_MICROS = 10_000;

/** User and system time so far, microseconds, with that of children that have ended. */
export function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks * TICK_MICROS;
}

/** The processes that a process has started and that are there now: of a postmaster one for each connection. */
export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
}
