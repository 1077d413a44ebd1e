/** The event log of a partition: a list whose entries are numbered without gaps, from the first that was ever written. */
import type { Instant } from '../../kernel/index.ts'
import { EVENT_SCAN_MAX } from '../store.ts'
import type { EventHint, EventPage, Partition } from '../store.ts'
import type { FunctionLoader } from './library/function-loader.ts'
import type { Keys } from './layout/keys.ts'
import { textBytes, typeBytes } from './layout/record-bytes.ts'
import { readEventValue } from './layout/stored-value.ts'
import { storedForm } from './layout/stored-form.ts'

/** Events that one call removes at most, so that trimming a long log does not hold up the server. */
const TRIM_STEP = 10_000

export class EventLog {
  readonly #loader: FunctionLoader
  readonly #keys: Keys

  constructor(loader: FunctionLoader, keys: Keys) {
    this.#loader = loader
    this.#keys = keys
  }

  async read(partition: Partition, after: number, limit: number, hint?: EventHint): Promise<EventPage> {
    const needles = hint === undefined ? [] : [EVENT_SCAN_MAX, typeBytes(hint.types), ...hint.texts.map(textBytes)]
    const reply = await this.#call('readLog', partition, [after, limit, ...needles])
    const [trimmed, count, events, places] = reply as [number, number, Buffer[], number[] | undefined]
    const first = Math.max(trimmed, after) + 1
    return {
      events: events.map((bytes, i) => {
        const place = places?.[i] ?? i + 1
        return { sequence: first + place - 1, ...readEventValue(bytes, storedForm) }
      }),
      firstSequence: trimmed + 1,
      lastSequence: trimmed + count,
    }
  }

  async trim(partition: Partition, olderThan: Instant, keepCount: number): Promise<number> {
    for (let total = 0; ;) {
      const removed = Number(await this.#call('trimLog', partition, [olderThan, keepCount, TRIM_STEP]))
      total += removed
      if (removed < TRIM_STEP) return total
    }
  }

  #call(name: 'readLog' | 'trimLog', partition: Partition, args: readonly (number | Buffer)[]): Promise<unknown> {
    const keys = [this.#keys.partition(partition), this.#keys.channels(partition)]
    return this.#loader.call(this.#loader.library.functions[name], keys, args)
  }
}
