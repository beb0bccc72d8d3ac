import type { Environment, Event } from '../../kernel/messages.ts';

/** One currency that a platform supports (spec, Platform config; facts §12). Amounts in minor units of the currency. */
export interface SupportedCurrency {
  currencyCode: string;
  minAmountMinor: bigint;
  maxAmountMinor: bigint;
  requiredCounterpartyFields: { name: string; mandatory: boolean }[];
  enabledTransactionTypes: ('INCOMING' | 'OUTGOING')[];
}

/** A platform fee; both parts zero deactivates it. */
export interface FeeConfig {
  feeType: 'CROSS_CURRENCY_TRANSACTION';
  sourceCurrency: string;
  variableFeeBps: number;
  fixedFee: { amountMinor: bigint; currency: string };
}

export interface CardConfigs {
  maxSpendPerTransactionMinor?: bigint | null;
  maxSpendPerDayMinor?: bigint | null;
}

/** The parts of the configuration that `PATCH /config` changes. */
export interface PlatformConfigChange {
  umaDomain?: string;
  webhookEndpoint?: string;
  supportedCurrencies?: SupportedCurrency[];
  embeddedWalletConfig?: Record<string, unknown>;
  cardTokenization2faConfig?: Record<string, unknown>;
  feeConfigs?: FeeConfig[];
  cardConfigs?: CardConfigs;
}

/** What the operator decides when a platform is made (decisions 21 and 23; facts §6). */
export interface PlatformSettings {
  /** Sandbox suffixes resolve customers at creation. */
  isRegulatedFinancialInstitution: boolean;
  /** The same for a platform that is not regulated but skips the verification paperwork. */
  skipVerificationPaperwork: boolean;
  /** Money moves for `APPROVED` customers only. */
  requireApprovedCustomers: boolean;
  /** Accounts are opened and money moves only with recorded consent to the end-user terms. */
  requireEndUserTerms: boolean;
  /** Its customers invite nobody; absent: they may. */
  hasNoInvitations?: boolean;
  /** Rule-based accounts may be opened; absent: they may not. */
  allowRuleBasedAccounts?: boolean;
}

/** `tenantId` is `<platform uuid>.<environment>`: configuration belongs to a platform in one environment. */
export type PlatformEvent =
  | Event<
      'PlatformCreated',
      {
        tenantId: string;
        platform: string;
        environment: Environment;
        name: string;
        umaDomain: string;
        supportedCurrencies: SupportedCurrency[];
        settings: PlatformSettings;
        webhookSecret: string;
      }
    >
  | Event<'PlatformConfigured', { tenantId: string; changes: PlatformConfigChange; isEndpointChanged: boolean }>
  | Event<'WebhookSecretRotated', { tenantId: string; webhookSecret: string; previousValidUntil: string }>
  /** `aheadMs`: how far the clock is ahead of wall time from now on, altogether. */
  | Event<'SandboxClockAdvanced', { tenantId: string; aheadMs: number }>;

export const platformEventTypes = [
  'PlatformCreated',
  'PlatformConfigured',
  'WebhookSecretRotated',
  'SandboxClockAdvanced',
] as const satisfies readonly PlatformEvent['type'][];
