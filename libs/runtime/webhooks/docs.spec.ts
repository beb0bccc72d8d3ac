import { execFileSync } from 'node:child_process';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { webhookEventTypes } from '../../domain/webhooks/event-types.ts';
import { newServiceKey, newWebhookSecret, signatureHeaders } from './signing.ts';

const docs = new URL('../../../docs/', import.meta.url);
const page = readFileSync(new URL('webhooks.md', docs), 'utf8');
const snippet = (file: string): string => readFileSync(new URL(`snippets/${file}`, docs), 'utf8');

const between = (start: string, end: string): string => {
  const parts = page.split(start);
  expect(parts).toHaveLength(2);
  return parts[1]!.slice(0, parts[1]!.indexOf(end));
};

describe('docs/webhooks.md', () => {
  test.each([
    ['verify-standard-webhooks.mjs', 'js'],
    ['verify-standard-webhooks.py', 'python'],
    ['verify-service-signature.mjs', 'js'],
    ['verify-service-signature.py', 'python'],
  ])('shows %s as it is', (file, language) => {
    const shown = between(`<!-- snippet: ${file} -->\n`, '<!-- /snippet -->');
    expect(shown).toBe(`\`\`\`${language}\n${snippet(file)}\`\`\`\n`);
  });

  test('lists every event type', () => {
    const rows = webhookEventTypes.map(
      ({ type, data, when, isEmitted }) => `| \`${type}\` | \`${data}\` | ${isEmitted ? '' : '*planned* '}${when} |`,
    );
    const shown = between('<!-- event-types -->\n', '<!-- /event-types -->');
    expect(shown.split('\n')).toEqual(['| Type | `data` | Sent when |', '|---|---|---|', ...rows, '']);
  });

  test('names the types that are sent once', () => {
    const once = webhookEventTypes.filter(({ isRetried }) => !isRetried).map(({ type }) => `\`${type}\``);
    const sentence = /`TEST` events and .* are sent once\./.exec(page)![0];
    expect(sentence.match(/`[A-Z_.]+`/g)!.sort()).toEqual(once.sort());
  });
});

const key = newServiceKey();
const secret = newWebhookSecret(randomBytes(32));
const olderSecret = newWebhookSecret(randomBytes(32));
const event = { id: 'Webhook:1', type: 'TEST', data: { name: 'Zoë ₿' } };
const body = Buffer.from(JSON.stringify(event));
const tampered = Buffer.from(JSON.stringify({ ...event, type: 'TEST2' }));
const nowSeconds = 1_760_000_000;
const privateKey = createPrivateKey(key.privatePem);
const { ...headers } = signatureHeaders({
  id: event.id,
  timestampSeconds: nowSeconds,
  body,
  secrets: [secret, olderSecret],
  privateKey,
});
const { 'webhook-signature': _, ...unsigned } = headers;

/** Arguments of the Standard Webhooks verifiers, and whether they have to accept them. */
const standardCases: [name: string, body: Buffer, headers: object, secret: string, nowSeconds: number, ok: boolean][] =
  [
    ['as sent', body, headers, secret, nowSeconds, true],
    ['with the older secret', body, headers, olderSecret, nowSeconds, true],
    ['299 seconds later', body, headers, secret, nowSeconds + 299, true],
    ['with a changed body', tampered, headers, secret, nowSeconds, false],
    ['with another secret', body, headers, newWebhookSecret(randomBytes(32)), nowSeconds, false],
    ['with another id', body, { ...headers, 'webhook-id': 'Webhook:2' }, secret, nowSeconds, false],
    [
      'with a wrong timestamp',
      body,
      { ...headers, 'webhook-timestamp': `${nowSeconds + 1}` },
      secret,
      nowSeconds,
      false,
    ],
    ['with no number as timestamp', body, { ...headers, 'webhook-timestamp': 'soon' }, secret, nowSeconds, false],
    ['301 seconds later', body, headers, secret, nowSeconds + 301, false],
    ['301 seconds before', body, headers, secret, nowSeconds - 301, false],
    ['without a signature', body, unsigned, secret, nowSeconds, false],
  ];

const header = headers['x-service-signature'];

/** Arguments of the X-Service-Signature verifiers, and whether they have to accept them. */
const serviceCases: [name: string, body: Buffer, header: string, publicKey: string, ok: boolean][] = [
  ['as sent', body, header, key.publicPem, true],
  ['with a changed body', tampered, header, key.publicPem, false],
  ['with another key', body, header, newServiceKey().publicPem, false],
  ['with another version', body, header.replace('"1"', '"2"'), key.publicPem, false],
  ['without a signature', body, '{"v":"1"}', key.publicPem, false],
  ['with no object as header', body, '"1"', key.publicPem, false],
  ['with a broken signature', body, '{"v":"1","s":"AA=="}', key.publicPem, false],
];

type Verify = (...args: unknown[]) => unknown;
const load = async (file: string): Promise<Record<string, Verify>> => import(new URL(`snippets/${file}`, docs).href);

describe('the Node.js snippets', () => {
  test.each(standardCases)('Standard Webhooks: %s', async (_name, received, given, held, now, ok) => {
    const { verifyStandardWebhook } = await load('verify-standard-webhooks.mjs');
    const run = () => verifyStandardWebhook!(received, given, held, now);
    if (ok) expect(run()).toEqual(event);
    else expect(run).toThrow();
  });

  test.each(serviceCases)('X-Service-Signature: %s', async (_name, received, given, publicKey, ok) => {
    const { verifyServiceSignature } = await load('verify-service-signature.mjs');
    const run = () => verifyServiceSignature!(received, given, publicKey);
    if (ok) expect(run()).toEqual(event);
    else expect(run).toThrow();
  });
});

/** Runs a snippet's function on each list of arguments (the body as base64): its result, or null where it raised ValueError. */
const HARNESS = `
import base64, json, runpy, sys
verify = runpy.run_path(sys.argv[1])[sys.argv[2]]
def outcome(body, *rest):
    try:
        return verify(base64.b64decode(body), *rest)
    except ValueError:
        return None
print(json.dumps([outcome(*args) for args in json.load(sys.stdin)]))
`;

function python(file: string, name: string, calls: [Buffer, ...unknown[]][]): unknown {
  const path = new URL(`snippets/${file}`, docs).pathname;
  const input = JSON.stringify(calls.map(([received, ...rest]) => [received.toString('base64'), ...rest]));
  return JSON.parse(execFileSync('python3', ['-c', HARNESS, path, name], { input, encoding: 'utf8' }));
}

/** `test` where python3 can run this statement; otherwise a skipped test that prints why. */
function testWithPython(statement: string): typeof test | typeof test.skip {
  try {
    execFileSync('python3', ['-c', statement], { stdio: 'ignore' });
    return test;
  } catch {
    process.stderr.write(`skipped: python3 cannot run \`${statement}\` here, so a Python snippet is not tried\n`);
    return test.skip;
  }
}

describe('the Python snippets', () => {
  testWithPython('import sys; assert sys.version_info >= (3, 10)')('Standard Webhooks', () => {
    const calls = standardCases.map(([, received, ...rest]): [Buffer, ...unknown[]] => [received, ...rest.slice(0, 3)]);
    const expected = standardCases.map(([name, , , , , ok]) => [name, ok ? event : null]);
    const results = python('verify-standard-webhooks.py', 'verify_standard_webhook', calls) as unknown[];
    expect(results.map((result, index) => [standardCases[index]![0], result])).toEqual(expected);
  });

  testWithPython('import cryptography')('X-Service-Signature', () => {
    const calls = serviceCases.map(([, received, ...rest]): [Buffer, ...unknown[]] => [received, ...rest.slice(0, 2)]);
    const expected = serviceCases.map(([name, , , , ok]) => [name, ok ? event : null]);
    const results = python('verify-service-signature.py', 'verify_service_signature', calls) as unknown[];
    expect(results.map((result, index) => [serviceCases[index]![0], result])).toEqual(expected);
  });
});
