import { expect, test } from '@jest/globals';
import { eventually } from '../../../test/eventually.ts';
import { SupervisedProjector } from './supervised.ts';

/** A thread that counts its starts in the memory it shares with the test, dies at the first, and works from the second on. */
const program = `
import { parentPort, workerData } from 'node:worker_threads';
const starts = ++workerData.masterKey[0];
if (starts === 1) process.exit(7);
parentPort.postMessage({ type: 'log', level: 'info', message: 'start ' + starts });
parentPort.postMessage({ type: 'advanced', batch: { position: 42, events: 2, ms: 1 } });
parentPort.postMessage({ type: 'state', position: 42, failure: undefined });
parentPort.once('message', () => process.exit(0));
`;

test('a thread that dies shows as a failure and is replaced; it ends when it is told to', async () => {
  const masterKey = new Uint8Array(new SharedArrayBuffer(1));
  const said: string[] = [];
  const failures: (string | undefined)[] = [];
  const advanced: number[] = [];
  const projector = new SupervisedProjector({
    url: 'postgres://nowhere/x',
    masterKey,
    program: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
    log: (level, message) => {
      said.push(`${level}: ${message}`);
      failures.push(projector.failure);
    },
    advanced: ({ position }) => advanced.push(position),
  });
  projector.start();
  await eventually(
    async () => projector.position,
    (position) => position === 42,
  );
  await eventually(
    async () => projector.failure,
    (failure) => failure === undefined,
  );
  expect(said).toEqual([
    'error: the thread of the projector ended with code 7; another one starts in 200 ms',
    'info: start 2',
  ]);
  expect(failures).toEqual(Array(2).fill('the thread of the projector ended with code 7'));
  expect(advanced).toEqual([42]);
  await projector.stop();
  expect(masterKey[0]).toBe(2);
});
