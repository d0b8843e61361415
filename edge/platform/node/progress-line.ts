/** Shows a program's progress on one line that is overwritten; without a terminal, as a line every few seconds. */
import type { Terminal } from './program.ts';

const BAR_CHARACTERS = 30;
/** For a file or another program's log. */
const LINE_EVERY_MS = 10_000;

export interface ProgressLine {
  readonly show: (done: number, total: number) => void;
  readonly end: () => void;
}

/** The maintained libraries also capture the terminal's input and Ctrl-C, which must let a step end first. */
export function progressLine(to: Terminal['errors']): ProgressLine {
  let shownAt = -Infinity;
  let last = '';
  const write = (text: string): void => {
    last = '';
    shownAt = performance.now();
    to.write(to.isTTY === true ? `\r${text}\u001B[K` : `${text}\n`);
  };
  return {
    show: (done, total) => {
      const share = total === 0 ? 1 : Math.min(done / total, 1);
      const filled = Math.floor(share * BAR_CHARACTERS);
      last = `${'#'.repeat(filled).padEnd(BAR_CHARACTERS, '.')} ${Math.floor(share * 100)} %  ${done} of ${total}`;
      if (to.isTTY === true || performance.now() - shownAt >= LINE_EVERY_MS) write(last);
    },
    end: () => {
      if (last !== '') write(last);
      if (to.isTTY === true) to.write('\n');
    },
  };
}
