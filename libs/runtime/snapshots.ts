import type { EventStore, Snapshot } from '../kernel/event-store.port.ts';
import type { Stream } from './stream.ts';

const EVERY_EVENTS = 200;
const PAUSE_MS = 1_000;
const AT_ONCE = 100;

/**
 * Saves the states of long streams, some time after the commits that made them due. Snapshots are disposable: one that cannot be saved
 * is only said. States with personal data are never saved, since a snapshot would outlive the key of the person.
 */
export class SnapshotWriter {
  private readonly store: EventStore;
  private readonly failed: (error: unknown) => void;
  private readonly due = new Map<string, Stream>();
  private timer: NodeJS.Timeout | undefined;
  private saving: Promise<void> = Promise.resolve();

  constructor(store: EventStore, failed: (error: unknown) => void) {
    this.store = store;
    this.failed = failed;
  }

  /** Called after each commit to a stream. */
  note(stream: Stream): void {
    if (stream.revision - stream.snapshotRevision < EVERY_EVENTS || isPersonal(stream)) return;
    this.due.set(stream.name, stream);
    this.timer ??= setTimeout(() => void this.save(), PAUSE_MS).unref();
  }

  /** Saves what is due now, after what is being saved. */
  save(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.saving = this.saving.then(() => this.saveDue());
    return this.saving;
  }

  private async saveDue(): Promise<void> {
    const due = [...this.due.values()];
    this.due.clear();
    try {
      for (let i = 0; i < due.length; i += AT_ONCE) {
        const some = due.slice(i, i + AT_ONCE).filter((stream) => stream.revision >= 0 && !isPersonal(stream));
        await this.store.saveSnapshots(some.map(snapshotOf));
      }
    } catch (error) {
      this.failed(error);
    }
  }
}

/** By the state as it is at this moment: the person may have come, or gone, since the snapshot became due. */
const isPersonal = ({ decider, state }: Stream): boolean =>
  decider.personal !== undefined && (decider.holdsPersonal?.(state) ?? true);

function snapshotOf(stream: Stream): Snapshot {
  stream.snapshotRevision = stream.revision;
  return stream.snapshot;
}
