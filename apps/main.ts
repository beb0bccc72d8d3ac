import { type Config, loadConfig, ROLES, type Role } from '../libs/runtime/config.ts';
import { giveUp } from './shared/program.ts';

/** Runs the part of the platform that ROLE, or the first argument, names. */
const programs: Record<Role, () => Promise<unknown>> = {
  standalone: () => import('./standalone/main.ts'),
  api: () => import('./api/main.ts'),
  relay: () => import('./relay/main.ts'),
  projector: () => import('./projector/main.ts'),
  worker: () => import('./worker/main.ts'),
  dispatcher: () => import('./dispatcher/main.ts'),
};

await programs[chosen().role]();

function chosen(): Pick<Config, 'role'> {
  const [, , asked] = process.argv;
  const role = ROLES.find((one) => one === asked);
  if (asked !== undefined && !role) giveUp(new Error(`There is no role ${asked}. There are: ${ROLES.join(', ')}.`));
  try {
    return loadConfig(undefined, role);
  } catch (error) {
    return giveUp(error);
  }
}
