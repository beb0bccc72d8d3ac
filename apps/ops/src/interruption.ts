/** How long a command may take to come to a place where it can stop. */
const PATIENCE_MS = 3_000;
export const INTERRUPTED = 130;

/** The command was asked to end, and nothing is half done. */
export class Interrupted extends Error {}

/**
 * Does something that Ctrl-C or a SIGTERM stops at the next safe place. One that comes to none in time, or a second signal, ends the
 * process as it is: nothing that a command leaves behind needs more than to be run again. Throws `Interrupted`.
 */
export async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const controller = new AbortController();
  let overdue: NodeJS.Timeout | undefined;
  const end = () => process.exit(INTERRUPTED); // an embedded PostgreSQL that this command started ends with it
  const interrupted = () => {
    if (controller.signal.aborted) end();
    controller.abort(new Interrupted('Interrupted: run it again to go on.'));
    overdue = setTimeout(end, PATIENCE_MS).unref();
  };
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(overdue);
    process.removeListener('SIGINT', interrupted).removeListener('SIGTERM', interrupted);
  }
}
