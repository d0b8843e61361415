/** CPU time of other processes and of the whole machine, for figures per request and per message (Linux: proc(5)). */
import { readFileSync } from 'node:fs';

/** Linux counts CPU time in ticks of 10 ms. */
const TICK_MICROS = 10_000;

const ticks = (fields: readonly (string | undefined)[]): number =>
  fields.reduce((sum, field) => sum + Number(field), 0) * TICK_MICROS;

/** Of /proc/[pid]/stat from field 3 on: the name before it may have spaces and brackets. */
const fieldsOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');

/**
 * User and system time so far, microseconds, with that of children that have ended. To the nanosecond where a process has one
 * thread, as each of PostgreSQL has; of more threads some may have ended, and only the ticks tell of those.
 */
export function cpuMicros(pid: number): number {
  const fields = fieldsOf(pid);
  const ofChildren = ticks(fields.slice(13, 15));
  if (fields[17] !== '1') return ofChildren + ticks(fields.slice(11, 13));
  return ofChildren + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');

/** Of several, the parent last: a child that has ended meanwhile is counted there. */
export function cpuMicrosOf(pids: readonly number[]): number {
  let sum = 0;
  for (const pid of pids) {
    try {
      sum += cpuMicros(pid);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return sum;
}

/** The processes that a process has started and that are there now: of a postmaster one for each connection. */
export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
}

/** The process that has started it: of one of PostgreSQL's connections the postmaster. */
export const parentOf = (pid: number): number => Number(fieldsOf(pid)[1]);

/** What the whole machine has worked so far, microseconds, and what other systems on the same hardware took from it. */
export function machineMicros(): number {
  const [, user, nice, system, , , irq, softirq, steal] =
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/) ?? [];
  return ticks([user, nice, system, irq, softirq, steal]);
}
