import { Inject, Injectable } from '@nestjs/common';
import { isClaimForgone } from '../../../../libs/domain/customers/customer.claims.ts';
import type { HeldClaim } from '../../../../libs/domain/customers/customer.events.ts';
import { serveCustomer } from '../../../../libs/domain/customers/customer.process.ts';
import type { CustomerType, Profile } from '../../../../libs/domain/customers/customer.profile.ts';
import {
  ConfirmAccountsOpened,
  CreateCustomer,
  type CustomerState,
  customer,
  isDeleted,
  isKnown,
  StartDeletion,
  UpdateCustomer,
} from '../../../../libs/domain/customers/customer.ts';
import { generatedUmaAddress } from '../../../../libs/domain/customers/uma-address.ts';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { Rejection, reject } from '../../../../libs/kernel/errors.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { Driver } from '../../../../libs/runtime/drive.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import type { Submitted } from '../../../../libs/runtime/http/index.ts';
import { customerView } from '../../../../projections/customer.view.ts';
import { type CustomerChange, type CustomerCreation, changeOf } from './customers.bodies.ts';
import {
  CustomerFacts,
  checkChange,
  checksBy,
  notEmpty,
  readConsent,
  readUmaAddress,
  supportedCurrencies,
  type WantedValue,
} from './customers.facts.ts';
import { UniqueValues } from './unique-values.ts';

/** Each further one is another request's doing, which changed the same customer in between. */
const CLAIM_ATTEMPTS = 3;

/** What is done for requests about customers: claims, the customer, its accounts, in this order and before the answer. */
@Injectable()
export class Customers {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(Driver) private readonly driver: Driver,
    @Inject(CustomerFacts) private readonly facts: CustomerFacts,
    @Inject(UniqueValues) private readonly uniqueValues: UniqueValues,
  ) {}

  async create(caller: Caller, { valid, accept }: Submitted<CustomerCreation>) {
    const { tenant } = caller;
    const customerId = caller.newId('customer');
    if (caller.key && (await this.exists(customerId))) return customerView(await this.finish(caller, customerId));
    const platform = await this.facts.platform(tenant);
    const body = accept(...checksBy(platform, valid));
    const currencies = supportedCurrencies(
      platform,
      body.currencies ?? platform.supportedCurrencies.map(({ currencyCode }) => currencyCode),
    );
    const umaAddress =
      body.umaAddress === undefined
        ? generatedUmaAddress(customerId, platform.umaDomain)
        : readUmaAddress(body.umaAddress, platform);
    const platformCustomerId = body.platformCustomerId ?? customerId;
    const consent = readConsent(body.endUserTermsConsent);
    const verificationStatus = await this.facts.firstStanding(platform, tenant, body);
    const wanted = [
      this.facts.platformCustomerId(tenant, platformCustomerId),
      this.facts.umaAddress(tenant, umaAddress),
    ];
    await this.holding(caller, customerId, wanted, (claims) => {
      const create = new CreateCustomer({
        customerId,
        tenantId: tenantIdOf(tenant),
        customerType: body.customerType,
        platformCustomerId,
        umaAddress,
        ...(body.region !== undefined && { region: body.region }),
        currencies,
        claims,
        ...personOf(body, body.customerType),
        ...consent,
        verificationStatus,
        requiresTerms: platform.settings.requireEndUserTerms,
      });
      return this.commands.send(create, caller.envelope('CreateCustomer'));
    });
    return customerView(await this.finish(caller, customerId));
  }

  async change(caller: Caller, id: string, change: Submitted<CustomerChange>) {
    const { tenant } = caller;
    const { customerId } = await this.facts.customer(tenant, id);
    const before = await this.settled(caller, customerId);
    if (isDeleted(before)) throw reject('CUSTOMER_DELETED');
    const platform = await this.facts.platform(tenant);
    const { valid, accept } = changeOf(before.customerType, change);
    const body = accept(() => checkChange(before, valid), ...checksBy(platform, valid, before.umaAddress));
    const umaAddress =
      body.umaAddress === undefined ? undefined : readUmaAddress(body.umaAddress, platform, before.umaAddress);
    const currencies = body.currencies && supportedCurrencies(platform, body.currencies);
    const changes = {
      customerId,
      ...(currencies && { currencies }),
      ...personOf(body, before.customerType),
      ...readConsent(body.endUserTermsConsent),
    };
    // Claimed whatever address it has: `before` may be older than what another process has written, the claim's stream is not.
    const wanted = umaAddress === undefined ? [] : [this.facts.umaAddress(tenant, umaAddress)];
    await this.holding(caller, customerId, wanted, ([claim]) => {
      const update = new UpdateCustomer({ ...changes, ...(claim && { umaAddress: umaAddress!, claim }) });
      return this.commands.send(update, caller.envelope('UpdateCustomer'));
    });
    return customerView(await this.finish(caller, customerId));
  }

  /** Closes the accounts and deletes the customer; where an account holds money, everything stays as it was. */
  async delete(caller: Caller, id: string) {
    const { customerId } = await this.facts.customer(caller.tenant, id);
    const before = await this.settled(caller, customerId);
    if (isDeleted(before)) throw reject('CUSTOMER_DELETED');
    await this.facts.checkEmpty(before);
    await this.commands.send(new StartDeletion({ customerId }), caller.envelope('StartDeletion'));
    const after = await this.finish(caller, customerId);
    if (!isDeleted(after)) throw notEmpty();
    return customerView(after);
  }

  /**
   * Runs `use` with the values claimed; they are given back when one of them, or what they were for, is refused. When another request of
   * the customer's gave one of them back meanwhile, they are claimed anew.
   */
  private async holding(
    caller: Caller,
    customerId: string,
    wanted: readonly WantedValue[],
    use: (claims: HeldClaim[]) => Promise<unknown>,
    attempts = CLAIM_ATTEMPTS,
  ): Promise<void> {
    const claims: HeldClaim[] = [];
    try {
      for (const one of wanted) claims.push(await this.uniqueValues.take(caller, one, customerId));
      await use(claims);
      return;
    } catch (error) {
      // After a refusal nothing was recorded. After anything else it may have been: then what is not in use can be taken over later.
      if (!(error instanceof Rejection) || error.status >= 500) throw error;
      await this.uniqueValues.release(caller, claims, customerId);
      if (!isClaimForgone(error) || attempts === 1) throw error;
    }
    await this.holding(caller, customerId, wanted, use, attempts - 1);
  }

  private async exists(customerId: string): Promise<boolean> {
    return isKnown((await this.writePath.state<CustomerState>(customer, customerId)).state);
  }

  /** Does what is left to be done for a customer, and remembers the answer of a keyed request with it. */
  private async finish(caller: Caller, customerId: string): Promise<CustomerState> {
    const answer = caller.answering(({ state }) => customerView(state as CustomerState));
    const { tenant, requestId: correlationId } = caller;
    const drive = { tenant, correlationId, ...(answer && { answer }) };
    const state = await this.driver.drive<CustomerState>(serveCustomer, customerId, drive);
    if (answer && !caller.key?.isRecorded) {
      const nothing = new ConfirmAccountsOpened({ customerId, currencies: [] });
      await this.commands.send(nothing, caller.envelope('answer', { answer }));
    }
    return state;
  }

  /** The customer after whatever an earlier request left undone. */
  private settled({ tenant, requestId: correlationId }: Caller, customerId: string): Promise<CustomerState> {
    return this.driver.drive<CustomerState>(serveCustomer, customerId, { tenant, correlationId });
  }
}

/** The part of a request that says who the customer is, as plain data; fields of the other kind of customer are left out. */
function personOf(
  body: CustomerCreation | CustomerChange,
  type: CustomerType,
): { profile?: Profile; identifier?: string } {
  const fields = JSON.parse(JSON.stringify(body)) as Record<string, unknown>;
  const { email, phoneNumber, address, businessInfo, identifier, ...rest } = fields;
  for (const field of notPersonal) delete rest[field];
  const own = type === 'INDIVIDUAL' ? rest : { businessInfo };
  const profile = JSON.parse(JSON.stringify({ email, phoneNumber, address, ...own })) as Profile;
  return {
    ...(Object.keys(profile).length > 0 && { profile }),
    ...(type === 'INDIVIDUAL' && typeof identifier === 'string' && { identifier }),
  };
}

const notPersonal = [
  'customerType',
  'platformCustomerId',
  'region',
  'currencies',
  'umaAddress',
  'endUserTermsConsent',
  'kycStatus',
  'kybStatus',
];
