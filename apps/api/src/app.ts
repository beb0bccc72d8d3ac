import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import {
  configureHttp,
  type Exchange,
  type HealthCheck,
  type Logger,
  RoutesByResource,
} from '../../../libs/runtime/http/index.ts';
import { externalAccountSchemas } from '../../../projections/external-account.view.ts';
import { webhookDocs } from '../../../projections/webhooks/catalogue.ts';
import type { Engine } from '../../shared/engine.ts';
import { ApiModule } from './api.module.ts';
import { serveLivenessPage } from './external-accounts/liveness-page.ts';
import type { ApiSettings } from './settings.ts';
import { announceDeprecation } from './transfers/deprecation.ts';

interface ApiOptions {
  logger: Logger;
  checks?: HealthCheck[];
  settings?: ApiSettings;
  /** Of the server that hands its requests over. */
  exchange?: Exchange;
}

/** The HTTP application, configured and initialised, not yet listening. */
export async function createApi(engine: Engine, options: ApiOptions): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    ApiModule.on(engine, options.settings),
    new RoutesByResource(options.exchange),
    {
      bodyParser: false,
      logger: false,
    },
  );
  configureHttp(app, {
    logger: options.logger,
    first: announceDeprecation,
    ...(options.checks && { checks: options.checks }),
    openApi: { title: 'Ledgerline', version: '2025-10-13', schemas: externalAccountSchemas, webhooks: webhookDocs() },
  });
  serveLivenessPage(app, engine);
  await app.init();
  return app;
}
