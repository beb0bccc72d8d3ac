import { TransfersController } from './transfers.controller.ts';
import { Transfers } from './transfers.ts';

/** The feature's part of the API module. */
export const transferControllers = [TransfersController];
export const transferProviders = [Transfers];
