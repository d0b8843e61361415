/** CPU time as the bench reads it of other processes, beside what a process says of itself. */
import process from 'node:process';

import { expect, test } from 'vitest';

import { cpuMicros, cpuMicrosOf, machineMicros, parentOf } from '../../bench/cpu.ts';

const TICKS_MICROS = 40_000;
/** No process has it (proc(5), pid_max). */
const UNKNOWN_PID = 2 ** 22 + 1;

test('the CPU time of a process equals its own measurement, and is a part of the machine’s', () => {
  const { user, system } = process.cpuUsage();
  const seen = cpuMicros(process.pid);
  expect(seen).toBeGreaterThan(user + system - TICKS_MICROS);
  expect(seen).toBeLessThan(machineMicros());
  expect(parentOf(process.pid)).toBe(process.ppid);
});

test('a process that has just ended is left to its parent', () => {
  expect(cpuMicrosOf([UNKNOWN_PID])).toBe(0);
  expect(() => cpuMicros(UNKNOWN_PID)).toThrow('ENOENT');
});
