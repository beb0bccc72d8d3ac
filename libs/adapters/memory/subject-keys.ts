import { randomBytes } from 'node:crypto';
import type { SubjectKeys } from '../../kernel/subject-keys.port.ts';

/** Keys of subjects in memory, for tests. */
export class MemorySubjectKeys implements SubjectKeys {
  private readonly keys = new Map<string, Buffer>();
  private readonly erased = new Set<string>();

  async ensure(subjects: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    for (const subject of subjects) {
      if (!this.keys.has(subject) && !this.erased.has(subject)) this.keys.set(subject, randomBytes(32));
    }
    return this.find(subjects);
  }

  async find(subjects: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    return new Map(subjects.flatMap((subject) => (this.keys.has(subject) ? [[subject, this.keys.get(subject)!]] : [])));
  }

  async destroy(subject: string): Promise<void> {
    this.keys.delete(subject);
    this.erased.add(subject);
  }
}
