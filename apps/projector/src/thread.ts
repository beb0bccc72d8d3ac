import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';
import { promptConnection } from '../../../libs/adapters/postgres/connection.ts';
import { PostgresSubjectKeys } from '../../../libs/adapters/postgres/subject-keys.ts';
import { deciders } from '../../../libs/domain/index.ts';
import { EventCodec } from '../../../libs/runtime/codec.ts';
import { announcers, processes, projections } from '../../../projections/index.ts';
import { openFeed } from '../../shared/feed.ts';
import { openStore } from '../../shared/store.ts';
import { Projector } from './projector.ts';
import type { ThreadData, ThreadMessage } from './supervised.ts';

/** The projector in a thread of its own, with its own connections. It ends when it is told to; see supervised.ts. */
const STATE_EVERY_MS = 250;

const { url, esdbUrl, masterKey, kafka } = workerData as ThreadData;
const parent = parentPort!;
const tell = (message: ThreadMessage) => parent.postMessage(message);

const pool = new pg.Pool({ ...promptConnection(url, 'ledgerline-projector'), max: 2 });
pool.on('error', () => {}); // an idle connection that dies is replaced at its next use
const log = (level: 'info' | 'warn' | 'error', message: string, error?: unknown) =>
  tell({ type: 'log', level, message, error });
const { store } = await openStore({ esdbUrl, url, pool, log });
const feed = await openFeed(kafka, { store, log });
const projector = new Projector({
  url,
  store,
  ...(feed && { feed }),
  codec: new EventCodec(deciders, new PostgresSubjectKeys(pool, Buffer.from(masterKey))),
  catalogue: { projections, announcers, processes },
  log,
  advanced: (batch) => tell({ type: 'advanced', batch }),
});

const state = setInterval(
  () => tell({ type: 'state', position: projector.position, failure: projector.failure }),
  STATE_EVERY_MS,
);

parent.once('message', async () => {
  clearInterval(state);
  await projector.stop();
  await store.close();
  await pool.end();
  process.exit(0); // of a thread: only the thread ends
});

await projector.start();
