import { runRole } from '../shared/role.ts';

await runRole('dispatcher', async () => {
  const { startDispatcher } = await import('./src/part.ts');
  return (context) => startDispatcher(context, 'inline');
});
