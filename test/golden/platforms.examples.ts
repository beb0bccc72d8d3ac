import type { PlatformEvent } from '../../libs/domain/platforms/platform.events.ts';

const platform = '0199dd29-0000-7000-8000-000000000001';
const tenantId = `${platform}.sandbox`;

/** The events of platforms. */
export const platformExamples: { readonly [T in PlatformEvent['type']]: Extract<PlatformEvent, { type: T }>['data'] } =
  {
    PlatformCreated: {
      tenantId,
      platform,
      environment: 'sandbox',
      name: 'Acme Pay',
      umaDomain: 'acme.ledgerline.test',
      supportedCurrencies: [
        {
          currencyCode: 'USD',
          minAmountMinor: 1n,
          maxAmountMinor: 1_000_000_000_000n,
          requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory: true }],
          enabledTransactionTypes: ['INCOMING', 'OUTGOING'],
        },
      ],
      settings: {
        isRegulatedFinancialInstitution: true,
        skipVerificationPaperwork: false,
        requireApprovedCustomers: false,
        requireEndUserTerms: true,
      },
      webhookSecret: 'whsec_Z29sZGVuIGdvbGRlbiBnb2xkZW4gZ29sZGVuISE=',
    },
    PlatformConfigured: {
      tenantId,
      changes: {
        webhookEndpoint: 'https://acme.example/hooks',
        feeConfigs: [
          {
            feeType: 'CROSS_CURRENCY_TRANSACTION',
            sourceCurrency: 'USD',
            variableFeeBps: 50,
            fixedFee: { amountMinor: 25n, currency: 'USD' },
          },
        ],
        cardConfigs: { maxSpendPerTransactionMinor: 50_000n, maxSpendPerDayMinor: null },
      },
      isEndpointChanged: true,
    },
    WebhookSecretRotated: {
      tenantId,
      webhookSecret: 'whsec_cm90YXRlZCByb3RhdGVkIHJvdGF0ZWQgcm90YXRlZCE=',
      previousValidUntil: '2025-10-14T12:00:00.000Z',
    },
    SandboxClockAdvanced: { tenantId, aheadMs: 360_000 },
  };
