import type { KeyObject } from 'node:crypto';
import type { Environment } from '../../../../libs/kernel/messages.ts';

/** The private key of `X-Service-Signature` of an environment. */
export type ServiceKeys = (environment: Environment) => KeyObject;

/** Injection token of `ServiceKeys`. */
export const SERVICE_KEYS = Symbol('ServiceKeys');
