import { AccountClaims } from './account-claims.ts';
import { CustomersExternalAccountsController } from './customers-external-accounts.controller.ts';
import { ExternalAccountFacts } from './external-accounts.facts.ts';
import { ExternalAccountReads } from './external-accounts.reads.ts';
import { ExternalAccounts } from './external-accounts.ts';
import { SandboxLivenessController } from './liveness.controller.ts';
import { PlatformExternalAccountsController } from './platform-external-accounts.controller.ts';

/** The feature's part of the API module. */
export const externalAccountControllers = [
  CustomersExternalAccountsController,
  PlatformExternalAccountsController,
  SandboxLivenessController,
];

export const externalAccountProviders = [ExternalAccounts, ExternalAccountFacts, ExternalAccountReads, AccountClaims];
