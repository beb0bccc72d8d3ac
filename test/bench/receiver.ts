import { createServer } from 'node:net';

/** A webhook endpoint that answers 204 to everything, at the least cost: `process.send({ port })`, and the number received when asked. */
let received = 0;

const ANSWER = 'HTTP/1.1 204 No Content\r\n\r\n';

const server = createServer({ noDelay: true }, (socket) => {
  let pending: Buffer | undefined;
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    let bytes = pending ? Buffer.concat([pending, chunk]) : chunk;
    pending = undefined;
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n');
      const length =
        end < 0 ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0);
      if (end < 0 || bytes.length < end + 4 + length) break;
      received += 1;
      socket.write(ANSWER);
      bytes = bytes.subarray(end + 4 + length);
    }
    if (bytes.length > 0) pending = bytes;
  });
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as { port: number }).port }));
process.on('message', () => process.send!({ received }));
process.on('disconnect', () => process.exit(0));
