/**
 * The newest records of one partition that this process has written or read, with their versions. The holder of a lease uses
 * them without reading first. What stands here may be stale: a commit compares the version.
 */
import type { RecordType } from '../../../kernel/index.ts'
import type { StoredRecord } from '../overlay/stored-data.ts'

export class RecordCache {
  readonly #max: number
  /** Where a record is put. When half of what may be kept stands here, it becomes the older generation. */
  #young = new Generation()
  #old = new Generation()

  /** At most so many records are kept; of those that were put last, at least half as many. */
  constructor(max: number) {
    this.#max = max
  }

  get(type: RecordType, id: string): StoredRecord | undefined {
    return this.#young.of(type).get(id) ?? this.#old.of(type).get(id)
  }

  set(type: RecordType, id: string, stored: StoredRecord): void {
    const records = this.#young.of(type)
    if (!records.has(id)) this.#young.size += 1
    records.set(id, stored)
    if (this.#young.size < this.#max / 2) return
    this.#old = this.#young
    this.#young = new Generation()
  }

  delete(type: RecordType, id: string): void {
    if (this.#young.of(type).delete(id)) this.#young.size -= 1
    this.#old.of(type).delete(id)
  }

  clear(): void {
    this.#young = new Generation()
    this.#old = new Generation()
  }
}

class Generation {
  size = 0
  readonly #records = new Map<RecordType, Map<string, StoredRecord>>()

  of(type: RecordType): Map<string, StoredRecord> {
    let records = this.#records.get(type)
    if (records === undefined) {
      records = new Map()
      this.#records.set(type, records)
    }
    return records
  }
}
