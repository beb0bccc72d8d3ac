/** The journey of the same name, unchanged, with the log in EventStoreDB. */
process.env.TEST_EVENT_STORE = 'eventstoredb';
await import('../journeys/idempotency.spec.ts');

export {};
