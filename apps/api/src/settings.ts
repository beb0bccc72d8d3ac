/** What a deployment sets about the API. */
export interface ApiSettings {
  /** Whether webhooks may go to private and loopback addresses, and over plain http. */
  allowPrivateTargets: boolean;
  /** Sandbox delays and expiries are multiplied by it. */
  sandboxTimeScale: number;
}

/** Injection token of `ApiSettings`. */
export const API_SETTINGS = Symbol('ApiSettings');
/** Injection token of the engine's `Clock`: `nowMs(tenant)` for what a platform sees, `nowMs()` for what is the deployment's own. */
export const CLOCK = Symbol('Clock');

export const defaultSettings: ApiSettings = { allowPrivateTargets: false, sandboxTimeScale: 1 };
