import { Body, Controller, Delete, Get, Module, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { type Request } from 'express';
import { Type } from 'typebox';
import { type FieldError, reject } from '../../kernel/errors.ts';
import * as http from './index.ts';

export const AddressView = Type.Object(
  { line1: Type.String(), country: Type.String({ examples: ['US'] }) },
  { $id: 'Address' },
);
export const CustomerView = Type.Object(
  { id: Type.String(), customerType: Type.Literal('INDIVIDUAL'), address: Type.Optional(AddressView) },
  { $id: 'IndividualCustomer' },
);
export const BusinessView = Type.Object(
  { id: Type.String(), customerType: Type.Literal('BUSINESS'), legalName: Type.String() },
  { $id: 'BusinessCustomer' },
);
export const AnyCustomerView = Type.Union([CustomerView, BusinessView], {
  $id: 'CustomerOneOf',
  discriminator: { propertyName: 'customerType' },
});
export const EchoView = Type.Object({ got: Type.Unknown() }, { $id: 'Echo' });

export class AddressBody {
  @http.Text({ min: 1, max: 50, example: '1 Main Street' })
  line1!: string;

  @http.Country()
  country!: string;
}

export class AccountSource {
  @http.OneOf(['ACCOUNT'])
  sourceType!: string;

  @http.PublicId('InternalAccount')
  accountId!: string;
}

export class RealtimeSource {
  @http.OneOf(['REALTIME_FUNDING'])
  sourceType!: string;

  @http.PublicId(['Customer', 'Platform'])
  customerId!: string;
}

const evenDigits = (value: unknown): FieldError[] =>
  String((value as { digits?: unknown })?.digits).length % 2 === 0
    ? []
    : [{ field: 'digits', constraint: 'FORMAT', message: 'digits must be even in number.' }];

export class EverythingBody {
  @http.Text({ min: 2, max: 5, pattern: /^[a-z]+$/ })
  text!: string;

  @http.Integer({ min: 1, max: 10 })
  integer!: number;

  @http.Flag({ optional: true })
  flag?: boolean;

  @http.OneOf(['RED', 'GREEN'], { optional: true, nullable: true })
  color?: string | null;

  @http.Text({ requiredIf: (body: EverythingBody) => body.color === 'RED', description: 'Why it is red.' })
  reason?: string;

  @http.Timestamp({ optional: true })
  at?: string;

  @http.DateOnly({ optional: true })
  day?: string;

  @http.PhoneE164({ optional: true })
  phone?: string;

  @http.Email({ optional: true })
  mail?: string;

  @http.Text({ optional: true, format: 'uri' })
  site?: string;

  @http.Nested(() => AddressBody, { optional: true })
  address?: AddressBody;

  @http.NestedOneOf('sourceType', { ACCOUNT: AccountSource, REALTIME_FUNDING: RealtimeSource }, { optional: true })
  source?: AccountSource | RealtimeSource;

  @http.ListOf(() => AddressBody, { optional: true, max: 3 })
  addresses?: AddressBody[];

  @http.ListOf(http.country(), { optional: true, min: 1, max: 2 })
  countries?: string[];

  @http.FreeObject({ optional: true })
  metadata?: Record<string, unknown>;

  @http.Checked(evenDigits, { optional: true, schema: { type: 'object', properties: { digits: { type: 'string' } } } })
  checked?: object;
}

export class IndividualBody {
  @http.OneOf(['INDIVIDUAL'])
  customerType!: string;

  @http.Text({ min: 1, max: 10 })
  fullName!: string;
}

export class BusinessBody {
  @http.OneOf(['BUSINESS'])
  customerType!: string;

  @http.Text({ min: 1, max: 10 })
  legalName!: string;
}

export class ThingsQuery extends http.PageQuery {
  @http.QueryFlag()
  isDeleted = false;

  @http.QueryTimestamp()
  createdAfter?: string;

  @http.QueryList(http.oneOf(['PENDING', 'FAILED']))
  status?: string[];

  @http.QueryOneOf(['asc', 'desc'])
  sortOrder = 'desc';

  @http.QueryText({ max: 5 })
  reference?: string;
}

@Controller()
export class ThingsController {
  @Post('everything')
  @http.Operation({
    summary: 'Echo',
    tag: 'Things',
    success: { 201: EchoView },
    permission: 'TRANSACT',
    idempotent: true,
  })
  everything(@Body() body: EverythingBody) {
    return { got: body };
  }

  @Post('customers')
  @http.Operation({ summary: 'Create', tag: 'Customers', success: { 201: EchoView }, permission: 'MANAGE' })
  create(@http.BodyOneOf('customerType', { INDIVIDUAL: IndividualBody, BUSINESS: BusinessBody }) body: object) {
    return { got: body, kind: undefined };
  }

  @Patch('customers/:customerId')
  @http.Operation({
    summary: 'Change',
    tag: 'Customers',
    success: { 200: EchoView },
    permission: 'MANAGE',
    errors: [404],
  })
  change(
    @http.BodyOneOf('customerType', { INDIVIDUAL: IndividualBody }, { otherwise: AddressBody }) body: object,
    @Param('customerId') customerId: string,
  ) {
    return { got: { ...body, customerId } };
  }

  @Get('customers/:customerId')
  @http.Operation({
    summary: 'Read',
    tag: 'Customers',
    success: { 200: AnyCustomerView },
    permission: 'VIEW',
    errors: [404],
  })
  read(@Param('customerId') id: string) {
    return id.endsWith('extra')
      ? { id, customerType: 'INDIVIDUAL', address: { line1: 'x', country: 'US', secret: 1 } }
      : { id, customerType: 'BUSINESS', legalName: 'Example' };
  }

  @Delete('customers/:customerId')
  @http.Operation({
    summary: 'Delete',
    tag: 'Customers',
    success: { 204: { description: 'Gone.' } },
    permission: 'MANAGE',
  })
  remove() {}

  @Get('things')
  @http.Operation({
    summary: 'List',
    tag: 'Things',
    success: { 200: http.PageOf(EchoView, 'EchoListResponse') },
    permission: 'VIEW',
    extension: true,
  })
  list(@Query() query: ThingsQuery) {
    const hash = http.filtersHash(query);
    if (query.cursor) http.decodeCursor(query.cursor, hash);
    const position = { key: '2025-10-13T00:00:00.000Z', id: 'Customer:01900000-0000-7000-8000-000000000000' };
    return http.page([{ got: query }, { got: 2 }], 1, 2, () => http.encodeCursor(position, hash));
  }

  @Get('fail/:how')
  @http.Operation({
    summary: 'Fail',
    tag: 'Things',
    success: { 200: EchoView },
    permission: 'PUBLIC',
    errors: [401, 404],
  })
  fail(@Param('how') how: string, @Req() req: Request) {
    Object.assign(req, { caller: { tenant: { platform: 'Platform-1', environment: 'sandbox' } } });
    if (how === '401') throw reject('UNAUTHORIZED', { reason: 'Unknown client id' });
    if (how === '429') throw reject('RATE_LIMITED', { retryAfterSeconds: 2.2 });
    if (how === '503') throw Object.assign(new Error('the database system is starting up'), { code: '57P03' });
    throw new Error('database password is hunter2');
  }
}

@Module({ controllers: [ThingsController] })
export class ThingsModule {}

/** An app with everything that `configureHttp` gives, listening on a free port. */
export async function startThings(
  logger: http.Logger,
  checks: http.HealthCheck[] = [],
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(ThingsModule, new http.RoutesByResource(), {
    bodyParser: false,
    logger: false,
  });
  const TEST = { summary: 'A test', payload: EchoView, answers: { '2XX': { description: 'Received.' } } };
  const openApi = { title: 'Things', version: '1', webhooks: { TEST } };
  http.configureHttp(app, { logger, checks, openApi });
  await app.listen(0, '127.0.0.1');
  return app;
}

/** What lists the invalid fields of an answer, in order. */
export const invalidFields = (answer: { body: { details?: { errors?: FieldError[] } } }) =>
  answer.body.details?.errors?.map(({ field, constraint }) => `${field} ${constraint}`);
