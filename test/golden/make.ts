/** Writes the golden files that are missing, from examples.ts: `node --import ./test/ts-loader.mjs test/golden/make.ts`. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { derivedUuid } from '../../libs/kernel/ids.ts';
import type { EventMeta } from '../../libs/kernel/messages.ts';
import { examples, tenantId } from './examples.ts';
import { codec, fileOf, type Golden, plain } from './golden.ts';

for (const [type, data] of Object.entries(examples)) {
  const file = fileOf(type);
  if (existsSync(file)) continue;
  const [platform] = tenantId.split('.') as [string];
  const meta: EventMeta = {
    commandId: derivedUuid('golden command', type),
    correlationId: 'req_0199dd29',
    causationId: derivedUuid('golden cause', type),
    actor: 'token:0199dd29-5555-7000-8000-00000000000b',
    tenant: { platform, environment: 'sandbox' },
  };
  const event = { type, data };
  const keys = await codec.keysFor([event]);
  const encoded = codec.encode(event, derivedUuid('golden', type), '2025-10-13T12:00:00.000Z', meta, keys);
  const stored = { ...encoded, stream: 'golden-stream', revision: 3, position: 41 };
  const golden: Golden = { stored, decoded: plain({ type, data, at: '2025-10-13T12:00:00.000Z', meta }) };
  await writeFile(file, `${JSON.stringify(golden, null, 2)}\n`);
  process.stdout.write(`wrote ${file}\n`);
}
