import { describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { startThings } from './http-kit.examples.ts';
import { createLogger } from './index.ts';
import { nestLogger } from './logging.ts';

function recorder(level: string, pretty = false) {
  const lines: string[] = [];
  const logger = createLogger({ level, pretty, destination: { write: (line) => void lines.push(line) } });
  return { logger, lines, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('redaction', () => {
  test('no planted secret reaches the output, wherever it is put', () => {
    const { logger, lines } = recorder('trace');
    const plant = (name: string) => `planted-${name}`;
    const names = [
      ...[
        'authorization',
        'Authorization',
        'clientSecret',
        'client_secret',
        'secret',
        'password',
        'accessToken',
        'token',
      ],
      ...[
        'panEmbedUrl',
        'code',
        'otp',
        'identifier',
        'taxId',
        'accountNumber',
        'iban',
        'clabeNumber',
        'Service-Wallet-Signature',
      ],
      ...[
        'email',
        'phoneNumber',
        'fullName',
        'birthDate',
        'MASTER_KEY',
        'set-cookie',
        'Idempotency-Key',
        'rawBody',
        'databaseUrl',
      ],
    ];
    for (const name of names) {
      logger.info({ [name]: plant(name) }, 'flat');
      logger.warn({ request: { headers: [{ deep: { [name]: plant(name) } }] } }, 'deep');
      logger.error({ err: Object.assign(new Error('x'), { details: { [name]: plant(name) } }) }, 'in an error');
      logger.child({ [name]: plant(name) }).info('in a child');
    }
    logger.info('Authorization: Basic planted-basic and Bearer planted-bearer, key whsec_planted-key');
    logger.info({ url: 'postgres://user:planted-password@host/db' }, 'connecting');
    logger.error(
      new Error('cannot reach postgres://user:planted-password@host/db', { cause: new Error('Bearer planted-cause') }),
    );
    expect(lines).toHaveLength(names.length * 4 + 3);
    expect(lines.filter((line) => line.includes('planted'))).toEqual([]);
  });

  test('what is needed to find a fault stays', () => {
    const { logger, entries } = recorder('info');
    logger.error({ err: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), requestId: 'r-1' }, 'failed');
    const [{ err, ...entry }] = entries() as [{ err: Record<string, string> }];
    expect(entry).toMatchObject({ level: 'error', requestId: 'r-1', msg: 'failed' });
    expect(err).toMatchObject({ type: 'Error', message: 'refused', code: 'ECONNREFUSED' });
    expect(err.stack).toContain('logging.spec.ts');
  });
});

describe('the access log', () => {
  test('one line a request: the template, never the path; the level by status', async () => {
    const { logger, entries } = recorder('info');
    const app = await startThings(logger, [{ name: 'database', check: async () => 'away' }]);
    const base = '/2025-10-13';
    const agent = request(app.getHttpServer());
    await agent.get('/healthz'); // asked for again and again: no line when it is well
    await agent.get('/readyz');
    await agent.get(`${base}/customers/Customer:1?reference=x`).set('X-Request-Id', 'r-1');
    await agent.get(`${base}/nope/Customer:1`);
    await agent.post(`${base}/everything`).set('Content-Type', 'application/json').send('{');
    await agent.get(`${base}/customers/%ff`);
    await agent.get(`${base}/fail/500`).set('Authorization', 'Basic cGxhbnRlZDpzZWNyZXQ=');
    await app.close();
    const lines = entries().filter(({ msg }) => msg === 'request');
    expect(lines.map(({ level, method, route, status, platform }) => [level, method, route, status, platform])).toEqual(
      [
        ['warn', 'GET', '/readyz', 503, undefined],
        ['info', 'GET', `${base}/customers/:customerId`, 200, undefined],
        ['warn', 'GET', 'unmatched', 404, undefined],
        ['warn', 'POST', `${base}/everything`, 400, undefined],
        ['warn', 'GET', 'unmatched', 400, undefined],
        ['error', 'GET', `${base}/fail/:how`, 500, 'Platform-1'],
      ],
    );
    expect(lines[1]).toMatchObject({ requestId: 'r-1', durationMs: expect.any(Number) });
    expect(entries().some(({ msg }) => msg === 'request failed')).toBe(true);
    expect(JSON.stringify(entries())).not.toMatch(/Customer:1|cGxhbnRlZDpzZWNyZXQ/);
  });

  test('nothing is written below the level', async () => {
    const { logger, lines } = recorder('warn');
    const app = await startThings(logger);
    await request(app.getHttpServer()).get('/healthz');
    await app.close();
    expect(lines).toEqual([]);
  });
});

describe('lines for people', () => {
  test('have a time, a level, the message and the rest', () => {
    const { logger, lines } = recorder('info', true);
    logger.info({ port: 3000, name: 'api' }, 'listening');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}listening port=3000 name=api\n$/);
  });
});

describe('the logger of Nest', () => {
  test('keeps levels and contexts, and calls the chatter of a start debug', () => {
    const { logger, entries } = recorder('debug');
    const nest = nestLogger(logger);
    nest.log('Mapped {/x, GET} route', 'RouterExplorer');
    nest.log('started', 'Main');
    nest.error('broken', 'Error: broken\n    at x', 'Main');
    expect(entries().map(({ level, msg, context, stack }) => [level, msg, context, stack])).toEqual([
      ['debug', 'Mapped {/x, GET} route', 'RouterExplorer', undefined],
      ['info', 'started', 'Main', undefined],
      ['error', 'broken', 'Main', 'Error: broken\n    at x'],
    ]);
  });
});
