/** The owner of everything: a platform, in one of its two environments (spec, Environments). */
export interface Tenant {
  platform: string;
  environment: Environment;
}

export type Environment = 'sandbox' | 'production';

/** A fact that a decider has decided: its type and its data. Fields that end in `Minor` are money (`bigint`). */
export interface Event<T extends string = string, D extends object = object> {
  type: T;
  data: D;
}

/** What the write path adds to an event before it is folded: the time it was decided, by the clock of its platform, RFC 3339 UTC. */
export interface Stamped {
  at: string;
}

/** A stored event as projections, processes and webhooks see it. */
export interface RecordedEvent<E extends Event = Event> extends Stamped {
  type: E['type'];
  data: E['data'];
  id: string;
  stream: string;
  /** 0 for the first event of a stream. */
  revision: number;
  /** Place in the log: opaque and ordered; gapless on Postgres. */
  position: number;
  meta: EventMeta;
}

/** Who caused an event, and where. */
export interface EventMeta {
  commandId: string;
  correlationId: string;
  causationId?: string;
  /** `token:<uuid>`, `process:<name>`, `ops`. */
  actor: string;
  tenant: Tenant;
  /** Schema version of the payload; 1 when absent. */
  version?: number;
  /** How far the clock of the platform was ahead of wall time, in milliseconds; absent: not at all. */
  aheadMs?: number;
}

/** A command as a decider sees it: intent and facts. */
export interface Command<T extends string = string, D extends object = object> {
  type: T;
  data: D;
}

/** The class of a command, made by `command('FreezeCard')<{ cardId: string }>()`. */
export interface CommandClass {
  new (data: never): Command;
  readonly type: string;
}

/**
 * Makes the class of a command, so that declaring one takes a line:
 * `class FreezeCard extends command('FreezeCard')<{ cardId: string }>() {}`.
 */
export const command =
  <const T extends string>(type: T) =>
  <D extends object>() =>
    class CommandOf implements Command<T, D> {
      static readonly type: T = type;
      readonly type: T = type;
      readonly data: D;
      constructor(data: D) {
        this.data = data;
      }
    };

/** The category of a stream: `payment` of `payment-0195…`. */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/** The id of a stream: `0195…` of `payment-0195…`. */
export const streamIdOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
