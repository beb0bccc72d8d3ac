import { runRole } from '../shared/role.ts';

await runRole('api', async () => (await import('./src/part.ts')).startApiAlone);
