/**
 * The output of a run: a line for each file, failures in full, skipped tests with their reason. The last line is always
 * `N passed, N failed[, N skipped]`.
 */
import { DefaultReporter, type TestModule } from 'vitest/node';

export default class LineForEachFile extends DefaultReporter {
  #startedMs = 0;

  constructor() {
    super({ summary: false });
  }

  override onTestRunStart(...args: Parameters<DefaultReporter['onTestRunStart']>): void {
    this.#startedMs = performance.now();
    super.onTestRunStart(...args);
  }

  override printTestModule(module: TestModule): void {
    const tests = [...module.children.allTests()];
    const failed = tests.filter((test) => test.result().state === 'failed');
    const skipped = tests.filter((test) => test.result().state === 'skipped');
    const counts = [`${tests.length} ${tests.length === 1 ? 'test' : 'tests'}`];
    if (failed.length > 0) counts.push(`${failed.length} failed`);
    if (skipped.length > 0) counts.push(`${skipped.length} skipped`);
    const { duration } = module.diagnostic();
    this.log(` ${this.getStateSymbol(module)} ${module.relativeModuleId} (${counts.join(', ')}) ${seconds(duration)}`);
    for (const test of failed) this.log(`     failed: ${test.fullName}`);
    // A run of selected tests skips the others on purpose.
    for (const test of this.ctx.config.testNamePattern === undefined ? skipped : []) {
      const result = test.result();
      const reason = result.state === 'skipped' ? result.note : undefined;
      this.log(`     skipped: ${test.fullName} (${reason ?? 'no reason is given'})`);
    }
  }

  override reportTestSummary(): void {
    this.log(` ran for ${seconds(performance.now() - this.#startedMs)}`);
  }

  override onTestRunEnd(...args: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...args);
    const [modules, unhandled] = args;
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      // A file that fails to load, or whose hooks fail, has no failed test.
      if (module.state() === 'failed' && ![...module.children.allTests('failed')].length) count.failed += 1;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    const failed = count.failed + unhandled.length + count.pending;
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`;
    process.once('exit', () => process.stdout.write(`${count.passed} passed, ${failed} failed${skipped}\n`));
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
