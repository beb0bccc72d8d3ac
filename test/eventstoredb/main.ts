import { parseArgs } from 'node:util';
import { startEventStoreServer } from './server.ts';

/**
 * The test server as a process of its own, for tests that kill it: `… --port 0 --data <file>`. Prints `{"url","port"}` when it listens.
 */
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, data: { type: 'string' } } });
const server = await startEventStoreServer({ port: Number(values.port), ...(values.data && { file: values.data }) });
process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void server.stop().then(() => process.exit(0)));
}
