/** The CPU time and the memory of a running process, measured from outside it (Linux: proc(5)). */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The thread has ended meanwhile.
    return '';
  }
};

/** User and system time of all running threads in milliseconds, exact to the nanosecond. */
export function cpuMsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return (
    threads.reduce((sum, thread) => sum + Number(textOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]), 0) /
    1e6
  );
}

const mebibytes = (pid: number, name: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(textOf(`/proc/${pid}/status`))?.[1]) / 1024;

/** The resident memory now, in MiB. */
export const memoryOf = (pid: number): number => mebibytes(pid, 'VmRSS');

/** The greatest resident memory since `forgetPeak`, in MiB. */
export const peakOf = (pid: number): number => mebibytes(pid, 'VmHWM');

/** Lets the peak be the memory of this moment. */
export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');
