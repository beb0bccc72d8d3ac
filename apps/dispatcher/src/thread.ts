import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';
import { promptConnection } from '../../../libs/adapters/postgres/connection.ts';
import { PostgresSubjectKeys } from '../../../libs/adapters/postgres/subject-keys.ts';
import { deciders } from '../../../libs/domain/index.ts';
import { EventCodec } from '../../../libs/runtime/codec.ts';
import { derivedKey } from '../../../libs/runtime/seal.ts';
import { openStore } from '../../shared/store.ts';
import { createDispatcher } from './index.ts';
import type { Attempts, ThreadData, ThreadMessage } from './supervised.ts';

/** The dispatcher in a thread of its own, with its own connections. It ends when it is told to; see supervised.ts. */
const TELL_EVERY_MS = 250;

const { url, esdbUrl, masterKey, allowPrivateTargets, graceMs } = workerData as ThreadData;
const parent = parentPort!;
const tell = (message: ThreadMessage) => parent.postMessage(message);

const pool = new pg.Pool({ ...promptConnection(url, 'ledgerline-dispatcher'), max: 1 });
pool.on('error', () => {}); // an idle connection that dies is replaced at its next use
const log = (level: 'info' | 'warn' | 'error', message: string, error?: unknown) =>
  tell({ type: 'log', level, message, error });
const { store } = await openStore({ esdbUrl, url, pool, log });
const key = Buffer.from(masterKey);
const engine = {
  url,
  store,
  codec: new EventCodec(deciders, new PostgresSubjectKeys(pool, key)),
  clock: { nowMs: () => Date.now() },
  keyFor: (purpose: string) => derivedKey(key, purpose),
};

let attempts: Attempts = [];
const dispatcher = createDispatcher(engine, {
  allowPrivateTargets,
  log,
  attempted: (status, durationMs) => attempts.push([status, durationMs]),
  waiting: (backlog) => tell({ type: 'waiting', backlog }),
});

const telling = setInterval(() => {
  if (attempts.length > 0) tell({ type: 'attempted', attempts });
  attempts = [];
}, TELL_EVERY_MS);

parent.once('message', async () => {
  await dispatcher.stop({ graceMs });
  clearInterval(telling);
  await store.close();
  await pool.end();
  process.exit(0); // of a thread: only the thread ends
});

dispatcher.start();
