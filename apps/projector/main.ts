import { runRole } from '../shared/role.ts';

await runRole('projector', async () => {
  const { startProjector } = await import('./src/part.ts');
  return (context) => startProjector(context, 'inline');
});
