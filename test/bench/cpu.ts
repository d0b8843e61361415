/** CPU time of other processes and of the whole machine, for figures per request and per message (Linux: proc(5)). */
import { readFileSync } from 'node:fs';

/** The unit of CPU times in /proc is 10 ms. */
const UNIT_MICROS = 10_000;

const microsOf = (fields: readonly (string | undefined)[]): number =>
  fields.reduce((sum, field) => sum + Number(field), 0) * UNIT_MICROS;

/** The fields of /proc/[pid]/stat from field 3 on. The name before them may have spaces and brackets. */
const fieldsOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');

/**
 * User and system time so far, in microseconds, with the time of children that have ended. It is exact to the nanosecond for
 * a process with one thread, such as those of PostgreSQL. Threads that have ended are counted only in units of 10 ms.
 */
export function cpuMicros(pid: number): number {
  const fields = fieldsOf(pid);
  const ofChildren = microsOf(fields.slice(13, 15));
  if (fields[17] !== '1') return ofChildren + microsOf(fields.slice(11, 13));
  return ofChildren + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');

/** The sum for several processes. List the parent last: it includes a child that has ended meanwhile. */
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

/** The running child processes. A postmaster has one for each connection. */
export function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
}

/** The parent process. For a connection of PostgreSQL it is the postmaster. */
export const parentOf = (pid: number): number => Number(fieldsOf(pid)[1]);

/** CPU time of the machine so far, in microseconds, including the time that other systems on the same hardware used (steal). */
export function machineMicros(): number {
  const [, user, nice, system, , , irq, softirq, steal] =
    readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/) ?? [];
  return microsOf([user, nice, system, irq, softirq, steal]);
}
