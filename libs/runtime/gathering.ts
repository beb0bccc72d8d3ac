/** After a flush of so many streams the next one begins so much later than that one did. */
const BUSY_STREAMS = 4;
const GATHER_MS = 10;

/**
 * The pause between flushes that go one after the other. A flush costs processor time however small it is, of the store and of whoever is
 * woken for it: while there is much to write it is worth a moment to let it come together. Nothing waits while there is little.
 */
export class Gathering {
  isOn = false;
  private readonly over: () => void;

  constructor(over: () => void) {
    this.over = over;
  }

  /** A flush of so many streams begins. */
  flushing(streams: number): void {
    if (streams < BUSY_STREAMS) return;
    this.isOn = true;
    setTimeout(() => {
      this.isOn = false;
      this.over();
    }, GATHER_MS);
  }
}
