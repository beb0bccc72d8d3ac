import { runRole } from '../shared/role.ts';

await runRole('relay', async () => (await import('./src/part.ts')).startRelay);
