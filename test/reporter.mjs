import { writeFileSync } from 'node:fs';

/**
 * Ends the run with one line for the whole. A file that could not run counts as a failed test, a test to be written as skipped. Where
 * the run is one of several (test/run.mjs) it writes its part of that line into the file named by TEST_TOTALS.
 */
export default class TotalReporter {
  onRunComplete(_contexts, results) {
    const totals = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    const { TEST_TOTALS } = process.env;
    if (TEST_TOTALS) writeFileSync(TEST_TOTALS, JSON.stringify(totals));
    else process.once('exit', () => process.stdout.write(closingLine(totals)));
  }
}

export const closingLine = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped\n`;
