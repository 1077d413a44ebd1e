/**
 * The newest records that this process has written to one partition, with their versions. The holder of a lease uses
 * them without reading first. What stands here may be stale: a commit compares the version.
 */
import type { RecordType } from '../../kernel/index.ts'
import type { StoredRecord } from './stored-data.ts'

export class RecordCache {
  readonly #max: number
  readonly #records = new Map<string, StoredRecord>()

  constructor(max: number) {
    this.#max = max
  }

  get(type: RecordType, id: string): StoredRecord | undefined {
    return this.#records.get(keyOf(type, id))
  }

  /** The record that was written longest ago makes room. */
  set(type: RecordType, id: string, stored: StoredRecord): void {
    const key = keyOf(type, id)
    this.#records.delete(key)
    this.#records.set(key, stored)
    if (this.#records.size <= this.#max) return
    for (const oldest of this.#records.keys()) {
      this.#records.delete(oldest)
      return
    }
  }

  delete(type: RecordType, id: string): void {
    this.#records.delete(keyOf(type, id))
  }

  clear(): void {
    this.#records.clear()
  }
}

function keyOf(type: RecordType, id: string): string {
  return `${type} ${id}`
}
