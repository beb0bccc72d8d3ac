/** What the operating system, PostgreSQL and gRPC say when a server is not there, not there yet, or full. */
const UNREACHABLE = new Set<unknown>([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['57P01', '57P02', '57P03', '53300', '08000', '08001', '08003', '08004', '08006', '3D000'],
  ...['unavailable', 'deadline-exceeded', 4, 14],
]);
/** What the client of PostgreSQL says without a code, the last where a connection is used that was lost before. */
const SAID =
  /^(Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client has encountered a connection error)/i;

/** Whether an error only says that a server cannot be reached now, so that the same may succeed later. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, type, syscall } = error as { code?: unknown; type?: unknown; syscall?: unknown };
  if (UNREACHABLE.has(code) || UNREACHABLE.has(type)) return true;
  if (code === 'ENOENT' && syscall === 'connect') return true; // a server's socket
  if (SAID.test(error.message)) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  return isUnreachable(error.cause);
}
