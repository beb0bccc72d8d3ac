import { Inject, Injectable, type Type } from '@nestjs/common';
import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { AnyDecider } from '../kernel/decider.ts';
import type { Command } from '../kernel/messages.ts';
import type { Caller } from './caller.ts';
import { WritePath } from './execute.ts';
import type { Envelope, Executed } from './stream.ts';

const envelopes = new WeakMap<Command, Envelope>();

/** Sends commands over the bus of @nestjs/cqrs, each with its envelope. */
@Injectable()
export class Commands {
  private readonly bus: CommandBus;

  constructor(@Inject(CommandBus) bus: CommandBus) {
    this.bus = bus;
  }

  /** Sends a command; throws its rejection. */
  send<S>(command: Command, envelope: Envelope): Promise<Executed<S>> {
    envelopes.set(command, envelope);
    return this.bus.execute<Command, Executed<S>>(command);
  }

  /**
   * Sends the command that completes a caller's request and answers with the view of the state that it led to. `tenant` is whose resource
   * it is, where it is not the caller's.
   */
  async answer<S, V extends object>(
    caller: Caller,
    command: Command,
    view: (state: S) => V,
    tenant = caller.tenant,
  ): Promise<V> {
    const answer = caller.answering((done) => view(done.state as S));
    const envelope = caller.envelope(command.type, answer && { answer });
    const { state } = await this.send<S>(command, { ...envelope, tenant });
    return view(state);
  }
}

/** The handlers of all commands of all deciders, for `providers`. Refuses a command that two deciders claim. */
export function commandHandlers(deciders: readonly AnyDecider[]): Type<ICommandHandler>[] {
  const owners = new Map<string, string>();
  return deciders.flatMap((decider) =>
    decider.commands.map((command) => {
      const owner = owners.get(command.type);
      if (owner) throw new Error(`the command ${command.type} is registered by ${owner} and by ${decider.name}`);
      owners.set(command.type, decider.name);

      @CommandHandler(command as unknown as Type)
      class Handler implements ICommandHandler<Command, Executed> {
        private readonly writePath: WritePath;

        constructor(@Inject(WritePath) writePath: WritePath) {
          this.writePath = writePath;
        }

        execute(one: Command): Promise<Executed> {
          const envelope = envelopes.get(one);
          if (!envelope) throw new Error(`${one.type} was sent without an envelope: use Commands`);
          return this.writePath.execute(decider, one, envelope);
        }
      }
      Object.defineProperty(Handler, 'name', { value: `${command.type}Handler` });
      return Handler;
    }),
  );
}
