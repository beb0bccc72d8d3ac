/** `node healthcheck.mjs [path]`: exit code 0 when the process of this container answers with 200, at /healthz unless told otherwise. */
const { PORT = '3000' } = process.env;
const [path = '/healthz'] = process.argv.slice(2);

try {
  const answer = await fetch(`http://127.0.0.1:${PORT}${path}`, { signal: AbortSignal.timeout(4_000) });
  process.exitCode = answer.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
