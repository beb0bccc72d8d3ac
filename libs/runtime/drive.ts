import type { AnyDecider } from '../kernel/decider.ts';
import { Rejection } from '../kernel/errors.ts';
import { derivedUuid } from '../kernel/ids.ts';
import type { Command, Tenant } from '../kernel/messages.ts';
import type { AnyProcess, Refused, Step } from '../kernel/process.ts';
import type { WritePath } from './execute.ts';
import type { Envelope, Executed } from './stream.ts';

/** The outside world as processes call it: by name. Throws when the answer is unknown; it is asked again then. */
export type Calls = Readonly<Record<string, (request: never) => Promise<unknown>>>;

/** On whose behalf a process is driven. */
export interface Drive {
  tenant: Tenant;
  correlationId: string;
  /**
   * The revision of the event that says there is something to do. An event can be read from the log before the commit is known to the
   * one who made it; the process must not be judged by the state before.
   */
  revision?: number;
  /** Remembers the answer of the keyed request that waits, with the first command after which the process stands somewhere new. */
  answer?: Envelope['answer'];
}

type Sends = Extract<Step, { sends: unknown }>;

/** A drive under way: that it has ended, one way or the other, and that it asks the outside world, which may take long to answer. */
interface UnderWay {
  ended: Promise<'ENDED'>;
  asksOutside: Promise<'ASKS_OUTSIDE'>;
}

/** A step throws over a refusal that is a fault: what it was about may be put right, and the command sent again. */
function isActedUpon(step: Sends, refused: Refused): boolean {
  try {
    step.after(refused);
    return true;
  } catch {
    return false;
  }
}

/**
 * Takes a process as far as it goes (architecture §8). Every command it sends has an id derived from the process's stream and revision,
 * and carries the position of the intent it follows from: sent again after a crash, each happens once. Two may drive the same process,
 * an API and a worker: a refusal is recorded where it was given, so that the other one, for whom the command might be accepted a moment
 * later, gets it as well. Otherwise one would move money for a payment that the other has ended as refused.
 */
export class Driver {
  private readonly writePath: WritePath;
  private readonly owners: ReadonlyMap<string, AnyDecider>;
  private readonly underWay = new Map<string, UnderWay>();

  constructor(writePath: WritePath, deciders: readonly AnyDecider[]) {
    this.writePath = writePath;
    this.owners = new Map(
      deciders.flatMap((decider) => decider.commands.map((command) => [command.type, decider] as const)),
    );
  }

  /**
   * Drives a process until it waits or ends, and says where it came to. Without `calls` it stops before the outside world, and does not
   * wait for another drive that asks there; a worker goes on from there.
   */
  async drive<S>(process: AnyProcess, id: string, drive: Drive, calls?: Calls): Promise<S> {
    const stream = `${process.decider.name}-${id}`;
    for (let other = this.underWay.get(stream); other; other = this.underWay.get(stream)) {
      const came = await (calls ? other.ended : Promise.race([other.ended, other.asksOutside]));
      if (came === 'ASKS_OUTSIDE') return this.run(process, id, drive);
    }
    let outside = () => {};
    const asksOutside = new Promise<'ASKS_OUTSIDE'>((resolve) => {
      outside = () => resolve('ASKS_OUTSIDE');
    });
    const work = this.run<S>(process, id, drive, calls, outside);
    const ended = () => 'ENDED' as const;
    this.underWay.set(stream, { ended: work.then(ended, ended), asksOutside });
    try {
      return await work;
    } finally {
      this.underWay.delete(stream);
    }
  }

  private async run<S>(process: AnyProcess, id: string, drive: Drive, calls?: Calls, outside?: () => void): Promise<S> {
    const stream = `${process.decider.name}-${id}`;
    let { answer } = drive;
    if (drive.revision !== undefined) this.writePath.noteForeign(stream, drive.revision);
    for (let isStart = true; ; isStart = false) {
      const { state, moved } = await this.writePath.state<S>(process.decider, id);
      const step = process.next(state) as Step | undefined;
      if (!step || ('call' in step && !calls)) return state;
      const envelope = (purpose: string): Envelope => ({
        commandId: derivedUuid(stream, String(moved.revision), purpose),
        correlationId: drive.correlationId,
        causationId: stream,
        actor: `process:${process.name}`,
        tenant: drive.tenant,
        since: moved.position,
      });
      if ('call' in step) {
        outside?.();
        const said = await calls![step.call]!(step.request as never);
        await this.send(step.after(said as never), envelope('answer'));
        continue;
      }
      const refusal = await this.sendAll(step, envelope);
      const isRefused = isStart && refusal?.at === 0; // nothing has moved, and a refusal is no answer to remember
      const after = { ...envelope('after'), ...(answer && !isRefused && { answer }) };
      await this.send(step.after(refusal), after);
      if (!isRefused) answer = undefined;
    }
  }

  private async sendAll(step: Sends, envelope: (purpose: string) => Envelope): Promise<Refused | undefined> {
    for (const [at, command] of step.sends.entries()) {
      const stands = (rejection: Rejection) => isActedUpon(step, { at, rejection });
      try {
        await this.send(command, { ...envelope(`send ${at}`), stands });
      } catch (error) {
        if (error instanceof Rejection && error.status < 500) return { at, rejection: error };
        throw error;
      }
    }
    return undefined;
  }

  private send(command: Command, envelope: Envelope): Promise<Executed> {
    const decider = this.owners.get(command.type);
    if (!decider) throw new Error(`nobody handles ${command.type}`);
    return this.writePath.execute(decider, command, envelope);
  }
}
