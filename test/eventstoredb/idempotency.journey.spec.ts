import { jest } from '@jest/globals';

/** The journey of the same name, unchanged, with the log in EventStoreDB. */
process.env.TEST_ENGINE = 'eventstoredb-direct';
jest.setTimeout(120_000); // the server works in this process, too
await import('../journeys/idempotency.spec.ts');
