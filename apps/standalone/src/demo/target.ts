import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../../../libs/runtime/config.ts';
import { createLogger } from '../../../../libs/runtime/http/index.ts';
import type { Engine } from '../../../shared/engine.ts';
import { startPlatform } from '../platform.ts';

/** The platform that the story is played on. */
export interface Target {
  url: string;
  credentials: { clientId: string; clientSecret: string };
  webhookSecret: string | undefined;
  /** Of a platform of the demo's own: a way to look behind the API. */
  engine?: Engine;
  stop(): Promise<void>;
}

/** Sandbox delays of half a minute take a third of a second; a quote can be executed for three seconds. */
const TIME_SCALE = '0.01';

/** A platform of its own: on an empty folder that is deleted afterwards, and on free ports. */
export async function ownPlatform(): Promise<Target> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'ledgerline-demo-'));
  const config = loadConfig({ DATA_DIR: dataDir, PORT: '0', SANDBOX_TIME_SCALE: TIME_SCALE });
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    const platform = await startPlatform(config, { logger: createLogger({ level: 'error', pretty: true }) });
    return {
      ...platform,
      async stop() {
        await platform.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
