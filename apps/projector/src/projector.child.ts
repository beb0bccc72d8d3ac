import pg from 'pg';
import { MemorySubjectKeys } from '../../../libs/adapters/memory/subject-keys.ts';
import { PostgresEventStore } from '../../../libs/adapters/postgres/event-store.ts';
import type { AccountState } from '../../../libs/domain/accounts/account.ts';
import { deciders } from '../../../libs/domain/index.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import { EventCodec } from '../../../libs/runtime/codec.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { journal } from '../../../projections/journal.ts';
import { Projector } from './projector.ts';

/**
 * A projector in a process of its own for tests: sends itself `signal` in the middle of a transaction, when rows are written, as soon as an
 * account holds `deadly` minor units.
 */
const [url, deadly, signal = 'SIGKILL'] = process.argv.slice(2) as [string, string, NodeJS.Signals?];
const diesOn = {
  name: 'die',
  decider: deciders.find(({ name }) => name === 'account')!,
  dueAt({ postedMinor }: AccountState) {
    if (postedMinor === BigInt(deadly)) process.kill(process.pid, signal);
    return undefined;
  },
} as unknown as AnyProcess;

const pool = new pg.Pool({ connectionString: url, max: 2 });
const projector = new Projector({
  url,
  store: new PostgresEventStore(url, pool),
  codec: new EventCodec(deciders, new MemorySubjectKeys()),
  catalogue: {
    projections: [internalAccounts, journal],
    announcers: [],
    processes: [{ process: diesOn, projection: internalAccounts }],
  },
  batchSize: 10,
  lease: { heartbeatMs: 100, expiresMs: 1_000, pollMs: 50 },
  log: (level, message) => void process.stdout.write(`${level}: ${message}\n`),
  advanced: ({ position }) => void process.stdout.write(`at ${position}\n`),
});
await projector.start();
