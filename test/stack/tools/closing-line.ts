/** Prints the suite's last line, `N passed, N failed[, N skipped]`, whatever happened before it. */
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      // A file that cannot be loaded, or whose hooks fail, has no failed test of its own.
      if (module.state() === 'failed' && ![...module.children.allTests('failed')].length) count.failed += 1;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    const failed = count.failed + unhandled.length + count.pending;
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`;
    process.once('exit', () => process.stdout.write(`${count.passed} passed, ${failed} failed${skipped}\n`));
  }
}
