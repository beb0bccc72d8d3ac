/** The journey of the same name, unchanged, with the log in EventStoreDB. */
process.env.TEST_ENGINE = 'eventstoredb-direct';
await import('../journeys/customers.spec.ts');
