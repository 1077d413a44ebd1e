/**
 * Every key and channel that the store uses, with what it holds. All that belongs to a partition carries the partition in
 * braces, so that a cluster keeps it together in one slot.
 *
 * | key                                | type       | holds                                                     |
 * | ---------------------------------- | ---------- | --------------------------------------------------------- |
 * | `<prefix>:{fp:3}:x5:<id>`          | string     | the record of an execution, as src/stores/valkey/layout/stored-value.ts describes |
 * | `<prefix>:{fp:3}:a5:<id>`          | string     | the record of an attempt                                  |
 * | `<prefix>:{fp:3}:q5:<id>`          | string     | the record of a queue                                     |
 * | `<prefix>:{fp:3}:f5:<id>`          | string     | the record of a flow                                      |
 * | `<prefix>:{fp:3}:e5:<id>`          | string     | the record of an edge                                     |
 * | `<prefix>:{fp:3}:s5:<id>`          | string     | the record of a step                                      |
 * | `<prefix>:{fp:3}:w5:<id>`          | string     | the record of a waitpoint                                 |
 * | `<prefix>:{fp:3}:g5:<id>`          | string     | the record of a signal                                    |
 * | `<prefix>:{m:0}:W5:<id>`           | string     | the record of a worker                                    |
 * | `<prefix>:{fp:3}:S5:<id>`          | string     | the share that a key has of a lane                        |
 * | `<prefix>:{fp:3}:R5:<lane>`        | string     | how far the fair order of a lane has come                 |
 * | `<prefix>:{fp:3}:L5:<lane>`        | string     | the settings of a lane, also in `{m:0}`                   |
 * | `<prefix>:{q:1}:D5:<id>`           | string     | the record of a limit                                     |
 * | `<prefix>:{q:1}:U5:<id>`           | string     | the record of the usage of one key of a limit             |
 * | `<prefix>:{q:1}:H5:<id>`           | string     | the record of the permits that a worker process holds     |
 * | `<prefix>:{fp:3}:G5:<id>`          | string     | the record of a gate                                      |
 * | `<prefix>:{m:0}:E5:<id>`           | string     | the record of the duties of engines                       |
 * | `<prefix>:{fp:3}:T5:<id>`          | string     | the record of a stream                                    |
 * | `<prefix>:{fp:3}:F5:<id>`          | string     | the record of a chunk of frames                           |
 * | `<prefix>:{fp:3}:C5:<id>`           | string     | the record of a schedule                                  |
 * | `<prefix>:{q:1}:B5:<id>`            | string     | the definition of a budget                                |
 * | `<prefix>:{q:1}:A5:<id>`            | string     | what one key of a budget has spent                        |
 * | `<prefix>:{q:1}:V5:<id>`            | string     | a reservation                                             |
 * | `<prefix>:{q:1}:P5:<id>`            | string     | a line of the ledger of budgets                           |
 * | `<prefix>:{q:1}:O5:<id>`            | string     | the sums of a past period of a budget                     |
 * | `<prefix>:{m:0}:N5:<id>`           | string     | the record of a consumer of the event log                 |
 * | `<prefix>:{fp:3}:K5:<id>`          | string     | the record of a shaping key                               |
 * | `<prefix>:{m:0}:Y5:<id>`           | string     | an entry of the audit trail                               |
 * | `<prefix>:{fp:3}:i5:<name>`        | sorted set | one index: ids by score                                   |
 * | `<prefix>:{fp:3}:b5:<key>`         | string     | raw bytes: a payload, a result, the value of a step, frames |
 * | `<prefix>:{fp:3}:events5`          | list       | the event log, oldest first                               |
 * | `<prefix>:{fp:3}:trimmed5`         | string     | how many events were ever removed from the log; `LEVEL_STEP` more for each level that the store was raised above the first |
 * | `<prefix>:{m}:settings`            | string     | the settings that were fixed at first use, as JSON        |
 * | `<prefix>:{m}:processes`           | sorted set | processes that use the store, as JSON, by the time of their last announcement |
 * | `<prefix>:{m}:facts:<kind>`        | sorted set | names that concern the store as a whole, such as retired key ids, with score 0 |
 * | `flowfabric:{m}:libraries`         | hash       | when a process last announced each function library       |
 *
 * In keys, members of indexes and values, ids are written as `id-bytes.ts` describes.
 *
 * Channels: `<prefix>:{fp:3}:<database>:wake` and `…:events`. Everything with a partition in its name is written by the
 * function library alone. Libraries belong to a server and not to a store, so their hash has no prefix of its own and
 * stands in database 0, whichever the store uses.
 */
import { isNameIndex } from '../../../kernel/index.ts'
import type { RecordType } from '../../../kernel/index.ts'
import type { FactKind, Partition } from '../../store.ts'
import { putName } from './id-bytes.ts'

const UTF8_BYTES_PER_CHARACTER_MAX = 3

/** What the count of trimmed events grows by with each level above the first. No log ever has as many events. */
export const LEVEL_STEP = 2 ** 47

export const LIBRARIES_KEY = 'flowfabric:{m}:libraries'

/**
 * What follows the prefix of a partition, by what the key holds. Every kind carries the number of the layout, so that no
 * program takes a value of one layout for a value of another.
 */
export const keyKinds = {
  execution: 'x5:',
  attempt: 'a5:',
  queue: 'q5:',
  flow: 'f5:',
  edge: 'e5:',
  step: 's5:',
  waitpoint: 'w5:',
  signal: 'g5:',
  worker: 'W5:',
  share: 'S5:',
  rotation: 'R5:',
  lane: 'L5:',
  limit_definition: 'D5:',
  gauge: 'U5:',
  holding: 'H5:',
  gate: 'G5:',
  duties: 'E5:',
  stream: 'T5:',
  frame_chunk: 'F5:',
  schedule: 'C5:',
  consumer: 'N5:',
  budget: 'B5:',
  account: 'A5:',
  reservation: 'V5:',
  charge: 'P5:',
  past_period: 'O5:',
  shaping_key: 'K5:',
  audit_entry: 'Y5:',
  index: 'i5:',
  blob: 'b5:',
} as const satisfies Record<RecordType | 'index' | 'blob', string>

/** What follows the prefix of a partition for its event log, and for the count of events that were trimmed. */
export const EVENTS = 'events5'
export const TRIMMED = 'trimmed5'

/**
 * How many of the first parts of an id or name have ids written as bytes. A part that holds another text keeps its order among
 * the members of an index: that of a lane, a step or a waitpoint, which may look like an id.
 */
export const idParts: Readonly<Record<keyof typeof keyKinds, number>> = {
  execution: 1,
  attempt: 1,
  queue: 0,
  flow: 1,
  edge: 2,
  step: 1,
  waitpoint: 1,
  signal: 1,
  worker: 0,
  share: 0,
  rotation: 0,
  lane: 0,
  limit_definition: 0,
  gauge: 0,
  holding: 0,
  gate: 0,
  duties: 0,
  stream: 1,
  frame_chunk: 1,
  schedule: 0,
  consumer: 0,
  budget: 0,
  account: 0,
  reservation: 0,
  charge: 0,
  past_period: 0,
  shaping_key: 0,
  audit_entry: 0,
  index: 2,
  blob: 2,
}

/** The same for the members of an index. */
export function memberIdParts(index: string): number {
  return isNameIndex(index) ? 0 : 1
}

/** The bytes of a name. */
export function nameBytes(name: string, parts: number): Buffer {
  const bytes = Buffer.alloc(UTF8_BYTES_PER_CHARACTER_MAX * name.length)
  return bytes.subarray(0, putName(bytes, 0, name, parts))
}

/** What the keys of each kind begin with. */
export type KeyHeads = Readonly<Record<keyof typeof keyKinds, Uint8Array>>

/** The heads without the prefix of a partition. */
export const kindHeads = headsWith('')

function headsWith(prefix: string): KeyHeads {
  const heads = Object.entries(keyKinds).map(([name, kind]) => [name, Buffer.from(prefix + kind)])
  return Object.fromEntries(heads) as KeyHeads
}

export class Keys {
  readonly #prefix: string
  readonly #database: number
  readonly #heads = new Map<Partition, KeyHeads>()

  constructor(prefix: string, database: number) {
    this.#prefix = prefix
    this.#database = database
  }

  /** What every key of a partition begins with. Nothing is ever stored under this name itself. */
  partition(partition: Partition): string {
    return `${this.#prefix}:{${partition}}:`
  }

  /** What the keys of a partition begin with, as bytes. */
  heads(partition: Partition): KeyHeads {
    let heads = this.#heads.get(partition)
    if (heads === undefined) {
      heads = headsWith(this.partition(partition))
      this.#heads.set(partition, heads)
    }
    return heads
  }

  /** A key of a partition. */
  key(partition: Partition, kind: keyof typeof keyKinds, name: string): Buffer {
    return Buffer.concat([Buffer.from(this.partition(partition) + keyKinds[kind]), nameBytes(name, idParts[kind])])
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
    return this.partition(partition) + TRIMMED
  }

  get processes(): string {
    return `${this.#prefix}:{m}:processes`
  }

  facts(kind: FactKind): string {
    return `${this.#prefix}:{m}:facts:${kind}`
  }

  get settings(): string {
    return `${this.#prefix}:{m}:settings`
  }
}
