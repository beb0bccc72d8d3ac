import { Controller, Delete, Get, Inject, Param, Patch, Post, Query } from '@nestjs/common';
import type { CustomerState } from '../../../../libs/domain/customers/customer.ts';
import { endUserTerms } from '../../../../libs/domain/customers/end-user-terms.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { BodyOneOf, Operation, PageOf, type Submitted, submitted } from '../../../../libs/runtime/http/index.ts';
import { ReadModel } from '../../../../libs/runtime/read-model.ts';
import { CustomerOneOf, customerView, EndUserTerms } from '../../../../projections/customer.view.ts';
import { customers } from '../../../../projections/customers.ts';
import * as bodies from './customers.bodies.ts';
import { customerIdOf } from './customers.facts.ts';
import { CustomersQuery, matching } from './customers.query.ts';
import { Customers } from './customers.ts';

const tag = 'Customers';

/** Registered after the controllers of `customers/internal-accounts` and the like, whose paths `:customerId` would match. */
@Controller('customers')
export class CustomersController {
  constructor(
    @Inject(Customers) private readonly service: Customers,
    @Inject(ReadModel) private readonly readModel: ReadModel,
  ) {}

  @Post()
  @Operation({
    summary: 'Create a customer',
    description:
      'Opens an internal account per currency that the platform supports, limited to `currencies` when given. On a platform that requires the end-user terms they are opened at consent.',
    tag,
    success: { 201: CustomerOneOf },
    errors: [501],
    permission: 'MANAGE',
    sealed: true,
  })
  create(
    @BodyOneOf(
      'customerType',
      { INDIVIDUAL: bodies.IndividualCustomerCreateRequest, BUSINESS: bodies.BusinessCustomerCreateRequest },
      { read: submitted },
    )
    body: Submitted<bodies.CustomerCreation>,
    @CurrentCaller() caller: Caller,
  ) {
    return this.service.create(caller, body);
  }

  @Get()
  @Operation({
    summary: 'List customers',
    tag,
    success: { 200: PageOf(CustomerOneOf, 'CustomerListResponse') },
    permission: 'VIEW',
  })
  list(@Query() query: CustomersQuery, @CurrentCaller() { tenant }: Caller) {
    return this.readModel.page<CustomerState, object>(customers, tenant, query, matching(query), customerView);
  }

  @Get('end-user-terms')
  @Operation({ summary: 'Get the current end-user terms', tag, success: { 200: EndUserTerms }, permission: 'VIEW' })
  terms() {
    return endUserTerms;
  }

  @Get(':customerId')
  @Operation({
    summary: 'Get a customer',
    description: 'A deleted one too.',
    tag,
    success: { 200: CustomerOneOf },
    errors: [404],
    permission: 'VIEW',
  })
  async get(@Param('customerId') id: string, @CurrentCaller() { tenant }: Caller) {
    const state = await this.readModel.byId<CustomerState>(customers, tenant, customerIdOf(id));
    if (!state) throw reject('USER_NOT_FOUND');
    return customerView(state);
  }

  @Patch(':customerId')
  @Operation({
    summary: 'Change a customer',
    description:
      'Fields that are given replace what is stored, `businessInfo` field by field. `platformCustomerId` and `region` cannot change; `email` and `phoneNumber` change in separate requests. Further `currencies` open further accounts; the accounts of those left out stay.',
    tag,
    success: { 200: CustomerOneOf },
    errors: [404, 410],
    permission: 'MANAGE',
    sealed: true,
  })
  change(
    @Param('customerId') id: string,
    @BodyOneOf(
      'customerType',
      { INDIVIDUAL: bodies.IndividualCustomerUpdateRequest, BUSINESS: bodies.BusinessCustomerUpdateRequest },
      { otherwise: bodies.CustomerUpdateRequest, read: submitted },
    )
    body: Submitted<bodies.CustomerChange>,
    @CurrentCaller() caller: Caller,
  ) {
    return this.service.change(caller, id, body);
  }

  @Delete(':customerId')
  @Operation({
    summary: 'Delete a customer',
    description:
      "Closes the customer's internal accounts, which must be empty, and frees its `platformCustomerId` and UMA address. The customer stays readable.",
    tag,
    success: { 200: CustomerOneOf },
    errors: [404, 409, 410],
    permission: 'MANAGE',
  })
  delete(@Param('customerId') id: string, @CurrentCaller() caller: Caller) {
    return this.service.delete(caller, id);
  }
}
