import type { KafkaConfig } from '../../../libs/runtime/config.ts';
import { besides, type LogMessage, SupervisedThread } from '../../shared/supervised-thread.ts';
import type { Projector, ProjectorOptions } from './projector.ts';

/** A projector at work, wherever it runs. */
export type RunningProjector = Pick<Projector, 'position' | 'failure' | 'stop'>;

/** What the thread is given. */
export interface ThreadData {
  url: string;
  /** Connection string of the EventStoreDB that keeps the log; absent: Postgres keeps it. */
  esdbUrl?: string | undefined;
  masterKey: Uint8Array;
  /** Where the feed comes from when it is not the log itself. */
  kafka?: KafkaConfig | undefined;
}

type ProjectorMessage =
  | { type: 'advanced'; batch: Parameters<NonNullable<ProjectorOptions['advanced']>>[0] }
  | { type: 'state'; position: number; failure: string | undefined };

export type ThreadMessage = LogMessage | ProjectorMessage;

export interface SupervisedOptions extends ThreadData {
  log: ProjectorOptions['log'];
  advanced?: ProjectorOptions['advanced'];
  /** The program of the thread; for tests. */
  program?: URL;
}

/** The projector in a thread of its own. It finishes its batch and hands over the lease before it ends. */
export class SupervisedProjector implements RunningProjector {
  position = 0;
  failure: string | undefined;
  private readonly thread: SupervisedThread<ProjectorMessage>;
  private readonly advanced: ProjectorOptions['advanced'];

  constructor({ log, advanced, program = besides(import.meta.url), ...data }: SupervisedOptions) {
    const { url, esdbUrl, masterKey, kafka } = data;
    this.advanced = advanced;
    this.thread = new SupervisedThread<ProjectorMessage>({
      name: 'projector',
      program,
      workerData: { url, esdbUrl, masterKey, kafka } satisfies ThreadData,
      log,
      told: (message) => this.told(message),
      died: (failure) => {
        this.failure = failure;
      },
    });
  }

  start(): void {
    this.thread.start();
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }

  private told(message: ProjectorMessage): void {
    if (message.type === 'state') {
      this.position = message.position;
      this.failure = message.failure;
      return;
    }
    this.thread.works();
    this.position = message.batch.position;
    this.advanced?.(message.batch);
  }
}
