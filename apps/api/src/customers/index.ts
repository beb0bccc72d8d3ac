import { CustomersController } from './customers.controller.ts';
import { CustomerFacts } from './customers.facts.ts';
import { Customers } from './customers.ts';
import { UniqueValues } from './unique-values.ts';

/** The feature's part of the API module. */
export const customerControllers = [CustomersController];

export const customerProviders = [Customers, CustomerFacts, UniqueValues];
