import { runRole } from '../shared/role.ts';

await runRole('relay', async () => {
  throw new Error('The relay carries the log to Kafka, which is not configured.');
});
