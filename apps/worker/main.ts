import { runRole } from '../shared/role.ts';

await runRole('worker', async () => (await import('./src/part.ts')).startWorker);
