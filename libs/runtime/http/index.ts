import { type NestExpressApplication } from '@nestjs/platform-express';
import { type Express, type Request, type RequestHandler, type Response } from 'express';
import { answerError, ErrorFilter, unknownRoute } from './errors.filter.ts';
import { type HealthCheck, healthHandler, readyHandler } from './health.ts';
import { type Logger, nestLogger, observeRequests } from './logging.ts';
import { metricsHandler, requestMetrics } from './metrics.ts';
import { type OpenApiOptions, serveOpenApi } from './openapi.ts';
import { hardenedJson, inTurn } from './parsing.ts';
import { type RoutesByResource } from './routes.ts';
import { Validated } from './validation.ts';

/** Where the versioned API lives (decision 1). */
export const BASE_PATH = '/2025-10-13';

export interface HttpOptions {
  logger: Logger;
  /** What `/readyz` asks. */
  checks?: HealthCheck[];
  openApi: Omit<OpenApiOptions, 'basePath'>;
  /** Sees each request before it is read and before anybody is known to have sent it. */
  first?: RequestHandler;
}

/**
 * Makes an app the HTTP side of the platform: strict reading, one error body, request ids, access log, metrics, validation, the
 * documents and health routes beside the base path. For an app on `RoutesByResource` with `bodyParser: false`, before `init` or `listen`;
 * guards are the app module's own (`APP_GUARD`).
 */
export function configureHttp(app: NestExpressApplication, { logger, checks = [], openApi, first }: HttpOptions): void {
  const instance = app.getHttpAdapter().getInstance() as Express;
  app.useLogger(nestLogger(logger));
  const observe = observeRequests(logger, requestMetrics());
  hardenedJson(app, logger, first ? inTurn(observe, first) : observe);
  (app.getHttpAdapter() as unknown as RoutesByResource).mountResources();
  instance.get('/healthz', healthHandler);
  instance.get('/readyz', readyHandler(checks));
  instance.get('/metrics', metricsHandler);
  serveOpenApi(app, { ...openApi, basePath: BASE_PATH });
  app.setGlobalPrefix(BASE_PATH);
  app.useGlobalPipes(new Validated());
  app.useGlobalFilters(new ErrorFilter(logger));
  answerTheRest(instance, logger);
}

/** Nest answers unknown paths under the prefix only; this is for all others, and for errors that slipped through. */
function answerTheRest(instance: Express, logger: Logger): void {
  const app = instance as unknown as { handle(req: Request, res: Response, done?: (error?: unknown) => void): void };
  const handle = app.handle.bind(instance);
  app.handle = (req, res, done) =>
    handle(req, res, done ?? ((error?: unknown) => answerError(error ?? unknownRoute(req), req, res, logger)));
}

export { type Exchange, newExchange } from './exchange.ts';
export { refuseFields } from './field-errors.ts';
export * from './fields.ts';
export type { HealthCheck } from './health.ts';
export { createLogger, type Logger } from './logging.ts';
export { counter, gauge, histogram, LATENCY_BUCKETS, registry } from './metrics.ts';
export { buildOpenApi, type OpenApiDocument, type WebhookDoc } from './openapi.ts';
export { type ErrorStatus, Operation, type OperationOptions, operationOf, type Permission } from './operation.ts';
export * from './pagination.ts';
export * from './query-fields.ts';
export { requestIdOf } from './request-id.ts';
export { RoutesByResource } from './routes.ts';
export {
  country,
  dateOnly,
  email,
  type Fault,
  integer,
  isObject,
  type JsonSchema,
  oneOf,
  phoneE164,
  publicIdOf,
  type Rule,
  text,
} from './rules.ts';
export { BodyOneOf, readAs, type Submitted, SubmittedBody, submitted, Validated } from './validation.ts';
