import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ClaimState, claim } from '../../../../libs/domain/claims/claim.ts';
import { serveCustomer } from '../../../../libs/domain/customers/customer.process.ts';
import { type CustomerState, customer, isDeleted, isKnown } from '../../../../libs/domain/customers/customer.ts';
import { deciders } from '../../../../libs/domain/index.ts';
import { CreatePlatform, tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { Rejection } from '../../../../libs/kernel/errors.ts';
import { derivedUuid, publicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { Caller } from '../../../../libs/runtime/caller.ts';
import { ClaimIds } from '../../../../libs/runtime/claims.ts';
import type { Commands } from '../../../../libs/runtime/commands.ts';
import { Driver } from '../../../../libs/runtime/drive.ts';
import type { WritePath } from '../../../../libs/runtime/execute.ts';
import type { Submitted } from '../../../../libs/runtime/http/index.ts';
import { commandsOf, Died, ProcessView, SharedLog } from '../../../../test/shared-log.ts';
import type { Providers } from '../../../shared/providers.ts';
import { defaultSettings } from '../../../shared/provision.ts';
import type { CustomerChange, CustomerCreation } from './customers.bodies.ts';
import { CustomerFacts } from './customers.facts.ts';
import { Customers } from './customers.ts';
import { UniqueValues } from './unique-values.ts';

const tenant: Tenant = { platform: 'p', environment: 'sandbox' };
const claimIds = new ClaimIds(Buffer.alloc(32));
const nameOf = (n: number) => `name-${n}`;
const addressOf = (n: number) => `$a${n}@example.com`;

const PROCESSES = 3;
const CUSTOMERS = 3;
const ADDRESSES = 3;
/** Claims of requests that died may be taken over after so long. */
const LEFT_BEHIND_MS = 61_000;

const small = (size: number) => fc.nat({ max: size - 1 });
/** What somebody asks of one of the processes; `dies`: at which of its steps it does, if it takes so many. */
const action = fc.record({
  process: small(PROCESSES),
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant('change' as const) },
    { weight: 2, arbitrary: fc.constantFrom('delete' as const, 'serve' as const) },
    { weight: 1, arbitrary: fc.constant('create' as const) },
    { weight: 1, arbitrary: fc.constantFrom('catch up' as const, 'wait' as const) },
  ),
  customer: small(CUSTOMERS),
  address: small(ADDRESSES),
  dies: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
  ),
});
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** The API's own classes on processes that share a log. */
class Deployment {
  readonly log = new SharedLog(() => this.expectEachToHoldItsOwn());
  readonly ids = Array.from({ length: CUSTOMERS }, (_, i) => keyed(i).newId('customer'));
  private readonly views = Array.from({ length: PROCESSES }, () => new ProcessView(this.log));

  constructor() {
    const settings = { name: 'P', umaDomain: 'example.com', supportedCurrencies: [], feeConfigs: [] };
    const tenantId = tenantIdOf(tenant);
    const create = { tenantId, ...tenant, ...settings, settings: defaultSettings, webhookSecret: '' };
    this.log.send(new CreatePlatform(create), 'platform');
  }

  /** Does it, and says how it was answered. */
  async run({ process, kind, customer: of, address, dies }: Action, pause: () => Promise<unknown>): Promise<string> {
    let steps = 0;
    const view = this.views[process]!.stepping(async () => {
      await pause();
      if (++steps === dies) throw new Died();
    });
    const { customers, driver } = apiOn(view, this.log);
    const id = publicId('Customer', this.ids[of]!);
    const change = accepted({ customerType: 'INDIVIDUAL', umaAddress: addressOf(address) } as CustomerChange);
    try {
      if (kind === 'create') await customers.create(keyed(of), creation(nameOf(of), addressOf(address)));
      if (kind === 'change') await customers.change(unkeyed(), id, change);
      if (kind === 'delete') await customers.delete(unkeyed(), id);
      if (kind === 'serve') await driver.drive(serveCustomer, this.ids[of]!, { tenant, correlationId: 'worker' });
      if (kind === 'catch up') this.views[process]!.catchUp();
      if (kind === 'wait') this.log.nowMs += LEFT_BEHIND_MS;
      return 'done';
    } catch (error) {
      if (error instanceof Died) return 'died';
      if (error instanceof Rejection && error.status < 500) return error.code;
      throw error;
    }
  }

  /** What each customer that is shown has alone is claimed by it, by that very claim, and so by nobody else. */
  expectEachToHoldItsOwn(): void {
    const wrong = this.shown().flatMap(({ customerId, claims }) =>
      claims.flatMap(({ rule, claimId, epoch }) => {
        const held = this.log.state<ClaimState>(claim, claimId);
        return held.owner === customerId && held.epoch === epoch ? [] : [{ customerId, rule, epoch, held }];
      }),
    );
    expect(wrong).toEqual([]);
  }

  shown(): CustomerState[] {
    const states = this.log.ids(customer).map((id) => this.log.state<CustomerState>(customer, id));
    return states.filter((state) => isKnown(state) && !isDeleted(state));
  }

  /**
   * Once everything has come to rest: an address that nobody shows can be had, one that somebody shows cannot. `afterMs`: how long claims
   * that were left behind are respected.
   */
  async expectTheRestToBeFree(afterMs: number): Promise<void> {
    const { customers, driver } = apiOn(new ProcessView(this.log), this.log);
    for (const id of this.log.ids(customer)) await driver.drive(serveCustomer, id, { tenant, correlationId: 'worker' });
    this.log.nowMs += afterMs;
    for (let n = 0; n < ADDRESSES; n++) {
      const isTaken = this.shown().some(({ umaAddress }) => umaAddress === addressOf(n));
      const creating = customers.create(unkeyed(), creation(`late-${n}`, addressOf(n))).then(
        () => 'done',
        (error: Rejection) => error.code,
      );
      expect([addressOf(n), await creating]).toEqual([addressOf(n), isTaken ? 'UMA_ADDRESS_EXISTS' : 'done']);
    }
  }
}

const creation = (platformCustomerId: string, umaAddress: string) =>
  accepted({
    customerType: 'INDIVIDUAL',
    platformCustomerId,
    umaAddress,
    currencies: [],
  } as unknown as CustomerCreation);

/** A body with which nothing is wrong by itself. */
function accepted<T extends object>(body: T): Submitted<T> {
  const accept = (...checks: (() => unknown)[]) => {
    for (const check of checks) check();
    return body;
  };
  return { given: { ...body } as Record<string, unknown>, valid: body, accept };
}

const unkeyed = (): Caller => new Caller(tenant, 'token', new Set(), 'request');
function keyed(n: number): Caller {
  const caller = unkeyed();
  caller.key = { hash: derivedUuid('key', `${n}`), bodyHash: '', body: null, status: 201, isRecorded: false };
  return caller;
}

function apiOn(view: ProcessView, log: SharedLog): { customers: Customers; driver: Driver } {
  const writePath = view as unknown as WritePath;
  const commands = commandsOf(view) as unknown as Commands;
  const driver = new Driver(writePath, deciders);
  const facts = new CustomerFacts(writePath, claimIds, {} as Providers);
  const uniqueValues = new UniqueValues(commands, writePath, { nowMs: () => log.nowMs });
  return { customers: new Customers(commands, writePath, driver, facts, uniqueValues), driver };
}

test('whatever happens at the same time or dies in between, a UMA address is had by one customer or can be had', async () => {
  const scripts = fc.array(fc.array(action, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), scripts, async (scheduler, script) => {
      const deployment = new Deployment();
      for (let of = 0; of < 2; of++) {
        await deployment.run(
          { process: of, kind: 'create', customer: of, address: of, dies: undefined },
          async () => {},
        );
      }
      const pause = () => scheduler.schedule(Promise.resolve());
      const one = async (actions: readonly Action[]) => {
        for (const each of actions) await deployment.run(each, pause);
      };
      await scheduler.waitFor(Promise.all(script.map(one)));
      const isLeft = script.flat().some(({ kind, dies }) => dies !== undefined || kind === 'create');
      await deployment.expectTheRestToBeFree(isLeft ? LEFT_BEHIND_MS : 0);
    }),
    { numRuns: 1_000 },
  );
}, 600_000);
