import { describe, expect, test } from '@jest/globals';
import { AT, given, testEveryCell } from '../../../test/transition-cells.ts';
import type { PlatformConfigChange } from './platform.events.ts';
import {
  ConfigurePlatform,
  CreatePlatform,
  type PlatformState,
  platform,
  platformTransitions,
  RotateWebhookSecret,
} from './platform.ts';

const tenantId = 'p.sandbox';
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
      RotateWebhookSecret: new RotateWebhookSecret({ tenantId, webhookSecret: 'whsec_2', previousValidUntil: AT }),
    },
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

  test('the secret before a rotation signs until its time', () => {
    const rotated = {
      type: 'WebhookSecretRotated',
      data: { tenantId, webhookSecret: 'whsec_2', previousValidUntil: '2025-10-14T12:00:00.000Z' },
    };
    expect(given(platform, created, rotated).state.webhookSecrets).toEqual([
      { secret: 'whsec_2' },
      { secret: 'whsec_1', validUntil: '2025-10-14T12:00:00.000Z' },
    ]);
  });
});
