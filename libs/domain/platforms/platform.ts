import { timestamp } from '../../kernel/clock.ts';
import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject, rejectFields } from '../../kernel/errors.ts';
import { publicId } from '../../kernel/ids.ts';
import { command, type Environment, type Stamped, type Tenant } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import type {
  CardConfigs,
  FeeConfig,
  PlatformConfigChange,
  PlatformEvent,
  PlatformSettings,
  SupportedCurrency,
} from './platform.events.ts';

export class CreatePlatform extends command('CreatePlatform')<
  Extract<PlatformEvent, { type: 'PlatformCreated' }>['data']
>() {}
export class ConfigurePlatform extends command('ConfigurePlatform')<{
  tenantId: string;
  changes: PlatformConfigChange;
}>() {}
/** Those that sign now go on beside the new one until `previousValidUntil`, or until the time of their own that is earlier. */
export class RotateWebhookSecret extends command('RotateWebhookSecret')<{
  tenantId: string;
  webhookSecret: string;
  previousValidUntil: string;
  now: string;
}>() {}
/** Moves the sandbox's clock forward, by so many seconds or to a time (RFC 3339). `wallMs`: wall time, in milliseconds since the epoch. */
export class AdvanceSandboxClock extends command('AdvanceSandboxClock')<
  { tenantId: string; wallMs: number } & ({ seconds: number } | { to: string })
>() {}

export type PlatformCommand = CreatePlatform | ConfigurePlatform | RotateWebhookSecret | AdvanceSandboxClock;

export type PlatformStatus = 'NONE' | 'ACTIVE';

/** One that was replaced signs until `validUntil`. */
export interface WebhookSecret {
  secret: string;
  validUntil?: string;
}

export interface PlatformState {
  status: PlatformStatus;
  tenantId: string;
  platform: string;
  environment: Environment;
  name: string;
  umaDomain: string;
  webhookEndpoint?: string;
  supportedCurrencies: readonly SupportedCurrency[];
  embeddedWalletConfig?: Readonly<Record<string, unknown>>;
  cardTokenization2faConfig?: Readonly<Record<string, unknown>>;
  feeConfigs: readonly FeeConfig[];
  cardConfigs?: CardConfigs;
  settings: PlatformSettings;
  /** Newest first; an older one signs until its time. Absent on the read side. */
  webhookSecrets?: readonly WebhookSecret[];
  /** How far the sandbox's clock is ahead of wall time, in milliseconds; absent: it was never moved. */
  clockAheadMs?: number;
  createdAt: string;
  updatedAt: string;
}

/** The id of a platform's configuration in one environment. */
export const tenantIdOf = ({ platform, environment }: Tenant): string => `${platform}.${environment}`;

/** Whose configuration has this id. */
export function tenantOf(tenantId: string): Tenant {
  const [platform, environment] = tenantId.split('.') as [string, Environment];
  return { platform, environment };
}

/** True on a platform with counterparty requirements (Travel Rule): something must be known of the counterparty in one of its currencies. */
export const hasCounterpartyRequirements = ({
  supportedCurrencies,
}: Pick<PlatformState, 'supportedCurrencies'>): boolean =>
  supportedCurrencies.some(({ requiredCounterpartyFields }) =>
    requiredCounterpartyFields.some(({ mandatory }) => mandatory),
  );

/** The furthest that a sandbox's clock can be ahead: ten years. */
export const MAX_CLOCK_AHEAD_SECONDS = 315_576_000;

/** Secrets that may sign at once: each makes the header of every webhook longer. */
export const MAX_WEBHOOK_SECRETS = 5;

/** The public id of a platform: that of its configuration. Its own transactions carry it where a customer's carry theirs. */
export const platformPublicId = ({ platform }: Pick<Tenant, 'platform'>): string =>
  publicId('PlatformConfig', platform);

export const platformTransitions = transitions<PlatformStatus, PlatformCommand['type']>(
  [
    ['NONE', 'CreatePlatform', 'ACTIVE', 'PlatformCreated'],
    ['ACTIVE', 'CreatePlatform', reject('CONFLICT', { reason: 'PLATFORM_EXISTS' })],
    ['ACTIVE', 'ConfigurePlatform', 'ACTIVE', 'PlatformConfigured'],
    ['ACTIVE', 'RotateWebhookSecret', 'ACTIVE', 'WebhookSecretRotated'],
    ['ACTIVE', 'AdvanceSandboxClock', 'ACTIVE', 'SandboxClockAdvanced'],
  ],
  reject('REFERENCE_NOT_FOUND'),
);

function decide(state: PlatformState, { type, data }: PlatformCommand): PlatformEvent[] | Rejection {
  const refusal = platformTransitions.guard(state.status, type);
  if (refusal) return refusal;
  switch (type) {
    case 'CreatePlatform':
      return [{ type: 'PlatformCreated', data }];
    case 'ConfigurePlatform': {
      if (Object.keys(data.changes).length === 0) return [];
      const { webhookEndpoint } = data.changes;
      const isEndpointChanged = webhookEndpoint !== undefined && webhookEndpoint !== state.webhookEndpoint;
      return [{ type: 'PlatformConfigured', data: { ...data, isEndpointChanged } }];
    }
    case 'RotateWebhookSecret':
      return secretRotated(state, data);
    case 'AdvanceSandboxClock':
      return advanced(state, data);
  }
}

/** What was promised to a former secret is kept, unless all are to end at once. */
function secretRotated(
  { webhookSecrets = [] }: PlatformState,
  { now, ...data }: RotateWebhookSecret['data'],
): PlatformEvent[] | Rejection {
  const signing = signingAt(webhookSecrets, now);
  if (signing.length >= MAX_WEBHOOK_SECRETS && data.previousValidUntil > now) {
    const [until] = signing.flatMap(({ validUntil }) => validUntil ?? []).sort();
    const message = 'Former secrets still sign: wait until one has ended, or end all at once with overlapHours 0.';
    return reject('CONFLICT', { reason: 'TOO_MANY_SECRETS', maximum: MAX_WEBHOOK_SECRETS, until }, message);
  }
  return [{ type: 'WebhookSecretRotated', data }];
}

const signingAt = (secrets: readonly WebhookSecret[], at: string): readonly WebhookSecret[] =>
  secrets.filter(({ validUntil }) => validUntil === undefined || validUntil > at);

function advanced(state: PlatformState, data: AdvanceSandboxClock['data']): PlatformEvent[] | Rejection {
  const { tenantId, wallMs } = data;
  const { clockAheadMs = 0, environment } = state;
  if (environment !== 'sandbox') return reject('FORBIDDEN', { reason: 'SANDBOX_ONLY' });
  const field = 'to' in data ? 'to' : 'seconds';
  const aheadMs = 'to' in data ? Date.parse(data.to) - wallMs : clockAheadMs + data.seconds * 1_000;
  if (aheadMs < clockAheadMs) {
    const earliest = timestamp(wallMs + clockAheadMs);
    const message = `${field} is before the present sandbox time: the clock goes forward only.`;
    return rejectFields([{ field, constraint: 'MINIMUM', message, earliest }]);
  }
  if (aheadMs > MAX_CLOCK_AHEAD_SECONDS * 1_000) {
    const message = `${field} leads too far: the sandbox clock can be ten years ahead at most.`;
    return rejectFields([{ field, constraint: 'MAXIMUM', message, maximumAheadSeconds: MAX_CLOCK_AHEAD_SECONDS }]);
  }
  return aheadMs === clockAheadMs ? [] : [{ type: 'SandboxClockAdvanced', data: { tenantId, aheadMs } }];
}

function evolve(state: PlatformState, event: PlatformEvent & Stamped): PlatformState {
  switch (event.type) {
    case 'PlatformCreated': {
      const { webhookSecret, ...data } = event.data;
      const webhookSecrets = webhookSecret ? [{ secret: webhookSecret }] : [];
      return { ...state, ...data, status: 'ACTIVE', webhookSecrets, createdAt: event.at, updatedAt: event.at };
    }
    case 'PlatformConfigured':
      return { ...state, ...configured(state, event.data.changes), updatedAt: event.at };
    case 'WebhookSecretRotated': {
      const { webhookSecret, previousValidUntil } = event.data;
      const wallTime = timestamp(Date.parse(event.at) - (state.clockAheadMs ?? 0)); // receivers live in it
      const former = signingAt(state.webhookSecrets ?? [], wallTime).map(({ secret, validUntil }) => ({
        secret,
        validUntil: validUntil !== undefined && validUntil < previousValidUntil ? validUntil : previousValidUntil,
      }));
      return { ...state, webhookSecrets: [{ secret: webhookSecret }, ...former], updatedAt: event.at };
    }
    case 'SandboxClockAdvanced':
      return { ...state, clockAheadMs: event.data.aheadMs };
  }
}

/** Wallet and card text settings are merged deeply, fees by type and currency, the rest is replaced (facts §12). */
function configured(state: PlatformState, changes: PlatformConfigChange): Partial<PlatformState> {
  const { embeddedWalletConfig, cardTokenization2faConfig, feeConfigs, cardConfigs, ...replaced } = changes;
  return {
    ...replaced,
    ...(embeddedWalletConfig && { embeddedWalletConfig: merged(state.embeddedWalletConfig, embeddedWalletConfig) }),
    ...(cardTokenization2faConfig && {
      cardTokenization2faConfig: merged(state.cardTokenization2faConfig, cardTokenization2faConfig),
    }),
    ...(feeConfigs && { feeConfigs: upserted(state.feeConfigs, feeConfigs) }),
    ...(cardConfigs && { cardConfigs: { ...state.cardConfigs, ...cardConfigs } }),
  };
}

type Tree = Readonly<Record<string, unknown>>;

function merged(before: Tree | undefined, changes: Tree): Tree {
  const result: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(changes)) {
    const isTree = typeof value === 'object' && value !== null && !Array.isArray(value);
    result[key] = isTree ? merged(result[key] as Tree | undefined, value as Tree) : value;
  }
  return result;
}

function upserted(before: readonly FeeConfig[], changes: readonly FeeConfig[]): FeeConfig[] {
  const same = (a: FeeConfig, b: FeeConfig) => a.feeType === b.feeType && a.sourceCurrency === b.sourceCurrency;
  return [...before.filter((old) => !changes.some((change) => same(old, change))), ...changes].filter(
    (fee) => fee.variableFeeBps > 0 || fee.fixedFee.amountMinor > 0n,
  );
}

/** A platform's configuration in one environment (spec, Platform configuration). */
export const platform: Decider<PlatformState, PlatformCommand, PlatformEvent> = {
  name: 'platform',
  id: 'tenantId',
  commands: [CreatePlatform, ConfigurePlatform, RotateWebhookSecret, AdvanceSandboxClock],
  creates: ['CreatePlatform'],
  initial: {
    status: 'NONE',
    tenantId: '',
    platform: '',
    environment: 'sandbox',
    name: '',
    umaDomain: '',
    supportedCurrencies: [],
    feeConfigs: [],
    settings: {
      isRegulatedFinancialInstitution: false,
      skipVerificationPaperwork: false,
      requireApprovedCustomers: false,
      requireEndUserTerms: false,
    },
    createdAt: '',
    updatedAt: '',
  },
  decide,
  evolve,
  version: 3,
  personal: {
    PlatformCreated: { subject: 'tenantId', fields: ['webhookSecret'] },
    WebhookSecretRotated: { subject: 'tenantId', fields: ['webhookSecret'] },
  },
};
