/**
 * Every key and channel that the store uses, with what it holds. All that belongs to a partition carries the partition in
 * braces, so that a cluster keeps it together in one slot.
 *
 * | key                                | type       | holds                                                     |
 * | ---------------------------------- | ---------- | --------------------------------------------------------- |
 * | `<prefix>:{fp:3}:<type>:<id>`      | string     | one record, its cells packed one after the other          |
 * | `<prefix>:{fp:3}:index:<name>`     | sorted set | one index: ids by score                                   |
 * | `<prefix>:{fp:3}:blob:<key>`       | string     | raw bytes: a payload or a result                          |
 * | `<prefix>:{fp:3}:events`           | stream     | the event log; an entry's id is `0-<sequence>`            |
 * | `<prefix>:{m}:settings`            | string     | what was fixed at first use, as JSON                      |
 * | `<prefix>:{m}:libraries`           | hash       | when a process last announced each function library       |
 *
 * Channels: `<prefix>:{fp:3}:<database>:wake` and `…:events`. Everything with a record type in its name is written by the
 * function library alone.
 */
import type { Partition } from '../store.ts'

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

  events(partition: Partition): string {
    return `${this.partition(partition)}events`
  }

  get settings(): string {
    return `${this.#prefix}:{m}:settings`
  }

  get libraries(): string {
    return `${this.#prefix}:{m}:libraries`
  }
}
