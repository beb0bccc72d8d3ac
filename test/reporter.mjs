/** Ends the run with one line for the whole. A file that could not run counts as a failed test, a test to be written as skipped. */
export default class TotalReporter {
  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`));
  }
}
