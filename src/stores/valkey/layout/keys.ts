/**
 * Every key and channel that the store uses, with what it holds. All that belongs to a partition carries the partition in
 * braces, so that a cluster keeps it together in one slot.
 *
 * | key                                | type       | holds                                                     |
 * | ---------------------------------- | ---------- | --------------------------------------------------------- |
 * | `<prefix>:{fp:3}:x4:<id>`          | string     | the record of an execution, as src/stores/valkey/layout/stored-value.ts describes |
 * | `<prefix>:{fp:3}:a4:<id>`          | string     | the record of an attempt                                  |
 * | `<prefix>:{fp:3}:q4:<id>`          | string     | the record of a queue                                     |
 * | `<prefix>:{fp:3}:f4:<id>`          | string     | the record of a flow                                      |
 * | `<prefix>:{fp:3}:e4:<id>`          | string     | the record of an edge                                     |
 * | `<prefix>:{fp:3}:s4:<id>`          | string     | the record of a step                                      |
 * | `<prefix>:{fp:3}:w4:<id>`          | string     | the record of a waitpoint                                 |
 * | `<prefix>:{fp:3}:g4:<id>`          | string     | the record of a signal                                    |
 * | `<prefix>:{fp:3}:i4:<name>`        | sorted set | one index: ids by score                                   |
 * | `<prefix>:{fp:3}:b4:<key>`         | string     | raw bytes: a payload, a result, the value of a step       |
 * | `<prefix>:{fp:3}:events4`          | list       | the event log, oldest first                               |
 * | `<prefix>:{fp:3}:trimmed4`         | string     | how many events were ever removed from the log; `LEVEL_STEP` more for each level that the store was raised above the first |
 * | `<prefix>:{m}:settings`            | string     | the settings that were fixed at first use, as JSON        |
 * | `<prefix>:{m}:processes`           | sorted set | processes that use the store, as JSON, by the time of their last announcement |
 * | `flowfabric:{m}:libraries`         | hash       | when a process last announced each function library       |
 *
 * Channels: `<prefix>:{fp:3}:<database>:wake` and `…:events`. Everything with a partition in its name is written by the
 * function library alone. Libraries belong to a server and not to a store, so their hash has no prefix of its own and
 * stands in database 0, whichever the store uses.
 */
import type { RecordType } from '../../../kernel/index.ts'
import type { Partition } from '../../store.ts'

/** What the count of trimmed events grows by with each level above the first. No log ever has as many events. */
export const LEVEL_STEP = 2 ** 47

export const LIBRARIES_KEY = 'flowfabric:{m}:libraries'

/**
 * What follows the prefix of a partition, by what the key holds. Every kind carries the number of the layout, so that no
 * program takes a value of one layout for a value of another.
 */
export const keyKinds = {
  execution: 'x4:',
  attempt: 'a4:',
  queue: 'q4:',
  flow: 'f4:',
  edge: 'e4:',
  step: 's4:',
  waitpoint: 'w4:',
  signal: 'g4:',
  index: 'i4:',
  blob: 'b4:',
} as const satisfies Record<RecordType | 'index' | 'blob', string>

export class Keys {
  readonly #prefix: string
  readonly #database: number

  constructor(prefix: string, database: number) {
    this.#prefix = prefix
    this.#database = database
  }

  /** What every key of a partition begins with. Nothing is ever stored under this name itself. */
  partition(partition: Partition): string {
    return `${this.#prefix}:{${partition}}:`
  }

  /** What both channels of a partition begin with. Channels know no databases, so the number is part of the name. */
  channels(partition: Partition): string {
    return `${this.#prefix}:{${partition}}:${this.#database}:`
  }

  wakeChannel(partition: Partition): string {
    return `${this.channels(partition)}wake`
  }

  eventsChannel(partition: Partition): string {
    return `${this.channels(partition)}events`
  }

  /** Read by every commit, so that a level that was raised costs no further read. */
  trimmed(partition: Partition): string {
    return `${this.partition(partition)}trimmed4`
  }

  get processes(): string {
    return `${this.#prefix}:{m}:processes`
  }

  get settings(): string {
    return `${this.#prefix}:{m}:settings`
  }
}
