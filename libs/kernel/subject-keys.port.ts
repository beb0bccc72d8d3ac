/**
 * The keys with which personal data is encrypted in the log: one per subject (a customer, or a platform), outside of the log,
 * so that destroying a key erases the person (architecture §6).
 */
export interface SubjectKeys {
  /** The 32-byte key of each subject, made when it has none and was never erased; absent from the map when it was destroyed. */
  ensure(subjects: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** The keys that exist. */
  find(subjects: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Destroys a key for good: nothing encrypted with it can be read again. */
  destroy(subject: string): Promise<void>;
}
