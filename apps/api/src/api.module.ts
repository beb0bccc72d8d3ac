import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { deciders } from '../../../libs/domain/index.ts';
import { Authentication, CREDENTIALS } from '../../../libs/runtime/auth.ts';
import { ClaimIds } from '../../../libs/runtime/claims.ts';
import { Commands, commandHandlers } from '../../../libs/runtime/commands.ts';
import { Driver } from '../../../libs/runtime/drive.ts';
import { WritePath } from '../../../libs/runtime/execute.ts';
import { Idempotency, KEYED_ANSWERS } from '../../../libs/runtime/idempotency.ts';
import { PlatformClock } from '../../../libs/runtime/platform-clock.ts';
import { ReadModel } from '../../../libs/runtime/read-model.ts';
import { LOG_HEAD, ReadPosition } from '../../../libs/runtime/read-position.ts';
import { Seal } from '../../../libs/runtime/seal.ts';
import type { Engine } from '../../shared/engine.ts';
import { PROVIDERS, sandboxProviders } from '../../shared/providers.ts';
import { railsOf } from '../../shared/rails.ts';
import { ConfigController } from './config/config.controller.ts';
import { TokenCredentials } from './credentials.ts';
import { CryptoController } from './crypto/crypto.controller.ts';
import { customerControllers, customerProviders } from './customers/index.ts';
import { DiscoveriesController } from './discoveries/discoveries.controller.ts';
import { ExchangeRatesController } from './exchange-rates/exchange-rates.controller.ts';
import { externalAccountControllers, externalAccountProviders } from './external-accounts/index.ts';
import {
  CustomersInternalAccountsController,
  InternalAccountsController,
  PlatformInternalAccountsController,
} from './internal-accounts/internal-accounts.controller.ts';
import { RuleAccounts } from './internal-accounts/rule-accounts.ts';
import { invitationControllers, invitationProviders } from './invitations/index.ts';
import { RAILS } from './ports.ts';
import { QuotesController } from './quotes/quotes.controller.ts';
import { Quoting } from './quotes/quoting.ts';
import { receiverControllers, receiverProviders } from './receivers/index.ts';
import { SandboxClockController } from './sandbox/clock.controller.ts';
import { SandboxController } from './sandbox/sandbox.controller.ts';
import { SandboxSendController } from './sandbox/sandbox-send.controller.ts';
import { API_SETTINGS, type ApiSettings, CLOCK, defaultSettings } from './settings.ts';
import { TokensController } from './tokens/tokens.controller.ts';
import { TokenFacts } from './tokens/tokens.facts.ts';
import { Changing } from './transactions/changing.ts';
import { TransactionsController } from './transactions/transactions.controller.ts';
import { transferControllers, transferProviders } from './transfers/index.ts';
import { webhookControllers, webhookProviders } from './webhooks/index.ts';

/** The HTTP API on an engine. */
@Module({})
export class ApiModule {
  static on(engine: Engine, settings: ApiSettings = defaultSettings): DynamicModule {
    return {
      module: ApiModule,
      imports: [CqrsModule.forRoot()],
      controllers: [
        ...externalAccountControllers,
        ...receiverControllers,
        QuotesController,
        TransactionsController,
        ExchangeRatesController,
        DiscoveriesController,
        SandboxController,
        SandboxSendController,
        CryptoController,
        ...transferControllers,
        SandboxClockController,
        ...invitationControllers,
        TokensController,
        ConfigController,
        CustomersInternalAccountsController,
        PlatformInternalAccountsController,
        InternalAccountsController,
        ...customerControllers,
        ...webhookControllers,
      ],
      providers: [
        { provide: WritePath, useValue: engine.writePath },
        { provide: ReadModel, useValue: engine.readModel },
        { provide: KEYED_ANSWERS, useValue: engine.answers },
        { provide: CREDENTIALS, useValue: new TokenCredentials(engine.writePath) },
        { provide: Seal, useValue: new Seal(engine.keyFor('remembered answers')) },
        { provide: ClaimIds, useValue: new ClaimIds(engine.keyFor('claims')) },
        { provide: Driver, useValue: engine.driver },
        { provide: RAILS, useValue: railsOf(engine.clock, settings.sandboxTimeScale) },
        Quoting,
        Changing,
        ...transferProviders,
        { provide: CLOCK, useValue: engine.clock },
        { provide: PlatformClock, useValue: engine.clock },
        { provide: API_SETTINGS, useValue: settings },
        ...externalAccountProviders,
        ...invitationProviders(engine),
        ...receiverProviders(engine, settings),
        ...webhookProviders(engine, settings),
        { provide: PROVIDERS, useValue: sandboxProviders },
        ...customerProviders,
        RuleAccounts,
        TokenFacts,
        Commands,
        ...commandHandlers(deciders),
        { provide: LOG_HEAD, useValue: () => engine.store.head() },
        { provide: APP_GUARD, useClass: Authentication },
        { provide: APP_GUARD, useClass: ReadPosition },
        { provide: APP_GUARD, useClass: Idempotency },
      ],
    };
  }
}
