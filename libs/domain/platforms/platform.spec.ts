import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import { fold } from '../../kernel/decider.ts';
import { Rejection } from '../../kernel/errors.ts';
import type { Event } from '../../kernel/messages.ts';
import type { PlatformConfigChange } from './platform.events.ts';
import {
  AdvanceSandboxClock,
  ConfigurePlatform,
  CreatePlatform,
  MAX_CLOCK_AHEAD_SECONDS,
  type PlatformState,
  platform,
  platformTransitions,
  RotateWebhookSecret,
} from './platform.ts';

const tenantId = 'p.sandbox';
const wallMs = Date.parse(AT);
const create = new CreatePlatform({
  tenantId,
  platform: 'p',
  environment: 'sandbox',
  name: 'Test',
  umaDomain: 'pay.example.com',
  supportedCurrencies: [],
  settings: platform.initial.settings,
  webhookSecret: 'whsec_1',
});
const created = { type: 'PlatformCreated', data: create.data };
const configure = (changes: PlatformConfigChange) => new ConfigurePlatform({ tenantId, changes });
const configured = (changes: PlatformConfigChange, isEndpointChanged = false) => ({
  type: 'PlatformConfigured',
  data: { tenantId, changes, isEndpointChanged },
});
const stateAfter = (...changes: PlatformConfigChange[]): PlatformState =>
  given(platform, created, ...changes.map((one) => configured(one))).state;

describe('the life of a platform', () => {
  testEveryCell(platform, platformTransitions, {
    given: (status) => given(platform, ...(status === 'NONE' ? [] : [created])).state as { status: string },
    when: {
      CreatePlatform: create,
      ConfigurePlatform: configure({ umaDomain: 'b.example.com' }),
      RotateWebhookSecret: new RotateWebhookSecret({
        tenantId,
        webhookSecret: 'whsec_2',
        previousValidUntil: AT,
        now: AT,
      }),
      AdvanceSandboxClock: new AdvanceSandboxClock({ tenantId, wallMs, seconds: 1 }),
    },
  });
});

describe('the sandbox clock', () => {
  const by = (seconds: number) => new AdvanceSandboxClock({ tenantId, wallMs, seconds });
  const to = (time: string) => new AdvanceSandboxClock({ tenantId, wallMs, to: time });
  const advanced = (aheadMs: number) => ({ type: 'SandboxClockAdvanced', data: { tenantId, aheadMs } });
  const refusal = (decision: object) => {
    expect(decision).toBeInstanceOf(Rejection);
    const { code, details } = decision as Rejection;
    return [code, details?.reason ?? details?.errors];
  };
  const decide = (command: AdvanceSandboxClock, ...events: Event[]) =>
    platform.decide(given(platform, created, ...events).state as PlatformState, command);

  test('goes forward by seconds, on top of what it is ahead', () => {
    given(platform, created).when(by(360)).leadsTo(advanced(360_000));
    given(platform, created, advanced(360_000)).when(by(30)).leadsTo(advanced(390_000));
  });

  test('goes forward to a time', () => {
    given(platform, created).when(to('2025-10-13T12:00:01.500Z')).leadsTo(advanced(1_500));
    given(platform, created, advanced(1_500)).when(to('2025-10-14T12:00:00.000Z')).leadsTo(advanced(86_400_000));
    given(platform, created, advanced(1_500)).when(to('2025-10-13T12:00:01.500Z')).leadsTo();
  });

  test('never goes back', () => {
    const message = 'to is before the present sandbox time: the clock goes forward only.';
    const error = { field: 'to', constraint: 'MINIMUM', message };
    expect(refusal(decide(to('2025-10-13T11:59:59.999Z')))).toEqual(['INVALID_INPUT', [{ ...error, earliest: AT }]]);
    const back = decide(to('2025-10-13T12:00:59.999Z'), advanced(60_000));
    expect(refusal(back)).toEqual(['INVALID_INPUT', [{ ...error, earliest: '2025-10-13T12:01:00.000Z' }]]);
  });

  test('is ten years ahead at most', () => {
    given(platform, created)
      .when(by(MAX_CLOCK_AHEAD_SECONDS))
      .leadsTo(advanced(MAX_CLOCK_AHEAD_SECONDS * 1_000));
    for (const [field, command] of [
      ['seconds', by(MAX_CLOCK_AHEAD_SECONDS)],
      ['to', to('2036-01-01T00:00:00.000Z')],
    ] as const) {
      const message = `${field} leads too far: the sandbox clock can be ten years ahead at most.`;
      const error = { field, constraint: 'MAXIMUM', message, maximumAheadSeconds: MAX_CLOCK_AHEAD_SECONDS };
      expect(refusal(decide(command, advanced(1_000)))).toEqual(['INVALID_INPUT', [error]]);
    }
  });

  test('there is none in production', () => {
    const real = { type: 'PlatformCreated', data: { ...create.data, environment: 'production' as const } };
    given(platform, real).when(by(1)).rejects('FORBIDDEN', 'SANDBOX_ONLY');
  });
});

describe('the configuration', () => {
  test('only another endpoint is a change of the endpoint', () => {
    const endpoint = { webhookEndpoint: 'https://example.com/a' };
    given(platform, created).when(configure(endpoint)).leadsTo(configured(endpoint, true));
    given(platform, created, configured(endpoint, true)).when(configure(endpoint)).leadsTo(configured(endpoint, false));
    given(platform, created)
      .when(configure({ umaDomain: 'x.example.com' }))
      .leadsTo(configured({ umaDomain: 'x.example.com' }));
  });

  test('nothing to change is no event', () => {
    given(platform, created).when(configure({})).leadsTo();
  });

  test('wallet and card texts are merged at every depth', () => {
    const state = stateAfter(
      {
        embeddedWalletConfig: { appName: 'A', otpLength: 6 },
        cardTokenization2faConfig: { email: { subject: 'S', fromName: 'N' } },
      },
      {
        embeddedWalletConfig: { appName: 'B' },
        cardTokenization2faConfig: { email: { subject: 'T' }, displayName: 'D' },
      },
    );
    expect(state.embeddedWalletConfig).toEqual({ appName: 'B', otpLength: 6 });
    expect(state.cardTokenization2faConfig).toEqual({ email: { subject: 'T', fromName: 'N' }, displayName: 'D' });
  });

  test('a fee replaces the one of its type and currency, and ends it when both parts are zero', () => {
    const fee = (variableFeeBps: number, amountMinor: bigint) => ({
      feeType: 'CROSS_CURRENCY_TRANSACTION' as const,
      sourceCurrency: 'USD',
      variableFeeBps,
      fixedFee: { amountMinor, currency: 'USD' },
    });
    expect(stateAfter({ feeConfigs: [fee(30, 50n)] }, { feeConfigs: [fee(0, 10n)] }).feeConfigs).toEqual([fee(0, 10n)]);
    expect(stateAfter({ feeConfigs: [fee(30, 50n)] }, { feeConfigs: [fee(0, 0n)] }).feeConfigs).toEqual([]);
    expect(stateAfter({ feeConfigs: [fee(30, 50n)] }, { feeConfigs: [] }).feeConfigs).toEqual([fee(30, 50n)]);
  });

  test('caps of cards are merged, null takes one away', () => {
    const state = stateAfter(
      { cardConfigs: { maxSpendPerTransactionMinor: 5n, maxSpendPerDayMinor: 9n } },
      { cardConfigs: { maxSpendPerDayMinor: null } },
    );
    expect(state.cardConfigs).toEqual({ maxSpendPerTransactionMinor: 5n, maxSpendPerDayMinor: null });
  });
});

describe('webhook secrets', () => {
  const on = (day: number) => `2026-01-${String(day).padStart(2, '0')}T12:00:00.000Z`;
  const rotated = (day: number, webhookSecret: string, until: string) => ({
    type: 'WebhookSecretRotated',
    data: { tenantId, webhookSecret, previousValidUntil: until },
    at: on(day),
  });
  /** The secrets after rotations, newest first, with the day on which each ends. */
  const secretsAfter = (...rotations: object[]) => {
    const events = [{ ...created, at: on(1) }, ...rotations];
    const { webhookSecrets = [] } = fold(
      platform,
      events as unknown as Parameters<typeof fold<PlatformState, never>>[1],
    );
    return webhookSecrets.map(({ secret, validUntil }) => [secret, validUntil]);
  };

  test.each([
    ['signs until its time', [rotated(2, 'whsec_2', on(5))], [['whsec_2'], ['whsec_1', on(5)]]],
    [
      'keeps its time when the next one is replaced, too',
      [rotated(2, 'whsec_2', on(5)), rotated(3, 'whsec_3', on(6))],
      [['whsec_3'], ['whsec_2', on(6)], ['whsec_1', on(5)]],
    ],
    [
      'ends with those after it where they end earlier',
      [rotated(2, 'whsec_2', on(9)), rotated(3, 'whsec_3', on(6))],
      [['whsec_3'], ['whsec_2', on(6)], ['whsec_1', on(6)]],
    ],
    [
      'ends at once with all others when nothing is to overlap',
      [rotated(2, 'whsec_2', on(9)), rotated(3, 'whsec_3', on(3))],
      [['whsec_3'], ['whsec_2', on(3)], ['whsec_1', on(3)]],
    ],
    [
      'is forgotten with the next rotation after its time',
      [rotated(2, 'whsec_2', on(3)), rotated(3, 'whsec_3', on(6))],
      [['whsec_3'], ['whsec_2', on(6)]],
    ],
  ])('one that was replaced %s', (_, rotations, secrets) => {
    expect(secretsAfter(...rotations)).toEqual(secrets.map(([secret, validUntil]) => [secret, validUntil]));
  });

  test("one that was replaced keeps its time where the sandbox's clock is ahead: receivers live in real time", () => {
    const [at, aheadMs] = [on(20), 17 * 24 * 3_600_000];
    const advanced = { type: 'SandboxClockAdvanced', data: { tenantId, aheadMs }, at };
    const rotations = [rotated(2, 'whsec_2', on(5)), advanced, { ...rotated(3, 'whsec_3', on(6)), at }];
    expect(secretsAfter(...rotations)).toEqual([
      ['whsec_3', undefined],
      ['whsec_2', on(6)],
      ['whsec_1', on(5)],
    ]);
  });

  test('five sign at once: a sixth is refused until one has ended, unless all are to end', () => {
    const four = [2, 3, 4, 5].map((day) => rotated(day, `whsec_${day}`, on(day + 7)));
    const state = given(platform, created, ...four).state as PlatformState;
    const rotate = (now: string, previousValidUntil: string) => {
      const data = { tenantId, webhookSecret: 'whsec_6', previousValidUntil };
      const decision = platform.decide(state, new RotateWebhookSecret({ ...data, now }));
      if (decision instanceof Rejection) return [decision.code, decision.details];
      expect(decision).toEqual([{ type: 'WebhookSecretRotated', data }]);
      return 'rotated';
    };
    expect([rotate(on(6), on(7)), rotate(on(6), on(6)), rotate(on(9), on(10))]).toEqual([
      ['CONFLICT', { reason: 'TOO_MANY_SECRETS', maximum: 5, until: on(9) }],
      'rotated',
      'rotated',
    ]);
  });
});
