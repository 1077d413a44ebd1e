/**
 * A cache of the records of one partition that this process has written or read, with their versions. The holder of a lease
 * needs no load. An entry may be stale: a commit compares the version.
 */
import type { RecordType } from '../../../kernel/index.ts'
import { ChurnMap } from '../../../runtime/index.ts'
import { PRESENT } from '../overlay/stored-data.ts'
import type { StoredRecord } from '../overlay/stored-data.ts'

export class RecordCache {
  readonly #max: number
  /** Receives new records. Becomes the old generation when it holds half of the maximum. */
  #young = new Generation()
  #old = new Generation()

  /** Keeps at most `max` records, and at least the last `max / 2`. */
  constructor(max: number) {
    this.#max = max
  }

  get(type: RecordType, id: string): StoredRecord | typeof PRESENT | undefined {
    return this.#young.of(type).get(id) ?? this.#old.of(type).get(id)
  }

  set(type: RecordType, id: string, stored: StoredRecord): void {
    this.#set(type, id, stored)
  }

  /** Drops a record, but remembers that it is stored. */
  setPresent(type: RecordType, id: string): void {
    this.#set(type, id, PRESENT)
  }

  #set(type: RecordType, id: string, stored: StoredRecord | typeof PRESENT): void {
    const records = this.#young.of(type)
    const sizeBefore = records.size
    records.set(id, stored)
    this.#young.size += records.size - sizeBefore
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
  readonly #records = new Map<RecordType, ChurnMap<string, StoredRecord | typeof PRESENT>>()

  of(type: RecordType): ChurnMap<string, StoredRecord | typeof PRESENT> {
    let records = this.#records.get(type)
    if (records === undefined) {
      records = new ChurnMap()
      this.#records.set(type, records)
    }
    return records
  }
}
