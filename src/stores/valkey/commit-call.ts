/**
 * A commit as the function library takes it and answers it. What all groups write is merged, so that the server applies it
 * with few commands; beside it stands the group of each item, for the case that the conditions of some do not hold.
 */
import { DUE_INDEX, isReadyIndex, tellsEnd } from '../../kernel/index.ts'
import type { FabricEvent } from '../../kernel/index.ts'
import type { Commit, CommitGroup, CommitReply } from '../working-set/backend.ts'
import type { EntryWrite } from '../working-set/stored-data.ts'
import type { CallWriter, FunctionCall } from './call-writer.ts'
import { keyKinds } from './keys.ts'
import type { Keys } from './keys.ts'
import type { FunctionNames } from './library.ts'
import { VERSION_BYTES, writeEventValue, writeRecordValue } from './stored-value.ts'
import type { BodyForm, Related } from './stored-value.ts'
import { jsonItems, messageHead } from './wake-message.ts'

const EXPECTED_BYTES = VERSION_BYTES + 4
const COUNTS = 10
/** The mark of an index that wakes listeners when it has an earlier first entry. */
const FIRST_MARK = '<'

export interface CommitForm extends BodyForm, Related {}

/** Items of one kind, with the group of each, counted from 1. */
interface Grouped<T> {
  readonly items: T[]
  readonly groups: number[]
}

interface IndexChanges {
  /** Ids whose reservations end, without those whose entries are written: that ends them too. */
  readonly unreserved: Set<string>
  readonly removed: Grouped<EntryWrite>
  readonly added: Grouped<EntryWrite>
}

/** Writes the call of one commit, in the order that `library.lua` describes. */
export function writeCommit(
  writer: CallWriter,
  functions: FunctionNames,
  keys: Keys,
  commit: Commit,
  form: CommitForm,
  sender: string,
): FunctionCall {
  const prefix = keys.partition(commit.partition)
  const name = commit.finishesWork ? functions.commitWhenFull : functions.commit
  writer.begin(name, [prefix, keys.channels(commit.partition)])
  writer.argument(commit.now)
  writer.argument(commit.lagMs ?? '')
  writer.latin1Argument(commit.lock ?? '')
  writer.argument(commit.passesLock ? '1' : '')
  writer.argument(messageHead(sender))
  writer.argument(jsonItems(commit.holdersOf))
  new GroupWriter(writer, prefix, commit, form).write()
  return writer.finish()
}

/** Writes what all groups of a commit expect and change, kind by kind. */
class GroupWriter {
  readonly #writer: CallWriter
  readonly #prefix: string
  readonly #commit: Commit
  readonly #form: CommitForm
  /** Where the next group number is written; undefined if there is only one group. */
  #groupAt: number | undefined

  constructor(writer: CallWriter, prefix: string, commit: Commit, form: CommitForm) {
    this.#writer = writer
    this.#prefix = prefix
    this.#commit = commit
    this.#form = form
  }

  write(): void {
    const writer = this.#writer
    const { groups } = this.#commit
    const events = eventsOf(groups)
    const ended = endedOf(events)
    const countsAt = writer.reserve(4 * COUNTS)
    const itemCount = groups.reduce((sum, group) => sum + itemsIn(group), events.items.length + ended.items.length)
    const groupsAt = writer.reserve(groups.length > 1 ? 2 * itemCount : 0)
    if (groups.length > 1) this.#groupAt = groupsAt
    const counts = [
      groups.length,
      this.#conditions(),
      this.#sends(),
      this.#clear(),
      this.#sets(),
      this.#removes(),
    ].flat()
    counts.push(this.#events(events), this.#ended(ended), this.#indexes())
    for (const [i, count] of counts.entries()) writer.fill32(countsAt + 4 * i, count)
  }

  /** Returns how many records must be absent and how many are expected. */
  #conditions(): number[] {
    const writer = this.#writer
    const { groups } = this.#commit
    let present = 0
    for (const { conditions } of groups) for (const { version } of conditions) if (version !== undefined) present += 1
    let expectedAt = writer.reserve(EXPECTED_BYTES * present)
    let absent = 0
    for (const [group, { conditions }] of groups.entries()) {
      for (const { type, id, version } of conditions) {
        if (version !== undefined) continue
        this.#key(type, id)
        this.#note(group)
        absent += 1
      }
    }
    for (const [group, { conditions }] of groups.entries()) {
      for (const { type, id, version, length } of conditions) {
        if (version === undefined) continue
        this.#key(type, id)
        this.#note(group)
        // A value without room for a version was damaged outside and has a shorter one.
        writer.fillLatin1(expectedAt, version.padEnd(VERSION_BYTES, '\0'))
        writer.fill32(expectedAt + VERSION_BYTES, length)
        expectedAt += EXPECTED_BYTES
      }
    }
    return [absent, present]
  }

  #sends(): number {
    let count = 0
    for (const [group, { sends }] of this.#commit.groups.entries()) {
      for (const key of sends) {
        this.#key('blob', key)
        this.#note(group)
        count += 1
      }
    }
    return count
  }

  #clear(): number {
    let count = 0
    for (const [group, { clear = [] }] of this.#commit.groups.entries()) {
      for (const { index, upTo } of clear) {
        this.#key('index', index)
        this.#writer.argument(upTo ?? '')
        this.#note(group)
        count += 1
      }
    }
    return count
  }

  #sets(): number {
    const writer = this.#writer
    const { groups, version } = this.#commit
    let count = 0
    for (const [group, { records, blobs }] of groups.entries()) {
      for (const put of records) {
        if (put.record === undefined) continue
        this.#key(put.type, put.id)
        const value = writer.open()
        writeRecordValue(version, put.record, this.#form, this.#form, writer)
        put.length = writer.close(value)
        this.#note(group)
        count += 1
      }
      for (const { key, bytes } of blobs) {
        if (bytes === undefined) continue
        this.#key('blob', key)
        writer.bytesArgument(bytes)
        this.#note(group)
        count += 1
      }
    }
    return count
  }

  #removes(): number {
    let count = 0
    for (const [group, { records, blobs }] of this.#commit.groups.entries()) {
      for (const { type, id, record } of records) {
        if (record !== undefined) continue
        this.#key(type, id)
        this.#note(group)
        count += 1
      }
      for (const { key, bytes } of blobs) {
        if (bytes !== undefined) continue
        this.#key('blob', key)
        this.#note(group)
        count += 1
      }
    }
    return count
  }

  #events({ items, groups }: Grouped<FabricEvent>): number {
    const writer = this.#writer
    for (const event of items) {
      const value = writer.open()
      writeEventValue(this.#commit.now, event, this.#form, writer)
      writer.close(value)
    }
    this.#noteAll(groups)
    return items.length
  }

  #ended({ items, groups }: Grouped<FabricEvent>): number {
    for (const { executionId } of items) this.#writer.argument(JSON.stringify(executionId))
    this.#noteAll(groups)
    return items.length
  }

  #indexes(): number {
    const writer = this.#writer
    const indexes = changesByIndex(this.#commit)
    for (const [index, { unreserved, removed, added }] of indexes) {
      this.#key('index', index)
      writer.argument(markOf(index))
      writer.argument(unreserved.size)
      writer.argument(removed.items.length)
      writer.argument(added.items.length)
      for (const id of unreserved) writer.argument(id)
      for (const { id } of removed.items) writer.argument(id)
      for (const { id, after = 0 } of added.items) {
        writer.argument(after)
        writer.argument(id)
      }
      this.#noteAll(removed.groups)
      this.#noteAll(added.groups)
    }
    return indexes.size
  }

  #key(kind: keyof typeof keyKinds, id: string): void {
    this.#writer.joined(this.#prefix + keyKinds[kind], id)
  }

  /** Notes the group of the next item; groups are counted from 1. */
  #note(group: number): void {
    if (this.#groupAt === undefined) return
    this.#writer.fill16(this.#groupAt, group + 1)
    this.#groupAt += 2
  }

  #noteAll(groups: readonly number[]): void {
    for (const group of groups) this.#note(group)
  }
}

/** How many items a group has besides its events. */
function itemsIn({ conditions, clear = [], records, entries, blobs, sends }: CommitGroup): number {
  return conditions.length + clear.length + records.length + entries.length + blobs.length + sends.length
}

/** The events of all groups in the order of their places. */
function eventsOf(groups: readonly CommitGroup[]): Grouped<FabricEvent> {
  const all = groups.flatMap(({ events, eventPlaces }, group) =>
    events.map((event, k) => ({ event, group, place: eventPlaces?.[k] ?? 0 })),
  )
  if (groups.length > 1) all.sort((a, b) => a.place - b.place)
  return { items: all.map(({ event }) => event), groups: all.map(({ group }) => group) }
}

/** Those that tell the end of an execution. */
function endedOf({ items, groups }: Grouped<FabricEvent>): Grouped<FabricEvent> {
  const ended: Grouped<FabricEvent> = { items: [], groups: [] }
  for (const [i, event] of items.entries()) if (tellsEnd(event.type)) add(ended, event, groups[i] as number)
  return ended
}

function changesByIndex({ groups, reserved }: Commit): Map<string, IndexChanges> {
  const indexes = new Map<string, IndexChanges>()
  for (const { index, id } of reserved) changesOf(indexes, index).unreserved.add(id)
  for (const [group, { entries }] of groups.entries()) {
    for (const entry of entries) {
      const { unreserved, removed, added } = changesOf(indexes, entry.index)
      unreserved.delete(entry.id)
      add(entry.after === undefined ? removed : added, entry, group)
    }
  }
  return indexes
}

function changesOf(indexes: Map<string, IndexChanges>, index: string): IndexChanges {
  let changes = indexes.get(index)
  if (changes === undefined) {
    changes = { unreserved: new Set(), removed: { items: [], groups: [] }, added: { items: [], groups: [] } }
    indexes.set(index, changes)
  }
  return changes
}

function add<T>({ items, groups }: Grouped<T>, item: T, group: number): void {
  items.push(item)
  groups.push(group)
}

function markOf(index: string): string {
  if (index === DUE_INDEX) return FIRST_MARK
  return isReadyIndex(index) ? JSON.stringify(index) : ''
}

const refusals = ['locked', 'lock_lost', 'clock'] as const
/** The status of a commit that was refused because the store has a level that the library cannot run. */
const OTHER_LEVEL = 4

/** Returns the level that a commit was refused for. */
export function refusedLevel(reply: unknown): number | undefined {
  const [status, , level] = reply as number[]
  return status === OTHER_LEVEL ? level : undefined
}

export function readCommit(reply: unknown, commit: Commit): CommitReply {
  const [status, now, lastSequence, eventsAt, failed, ...blobs] = reply as [
    number,
    number,
    number,
    number,
    number[],
    ...Buffer[],
  ]
  const reason = refusals[status - 1]
  if (reason !== undefined) return { kind: 'refused', reason, now }
  const isFailed = new Set(failed)
  let next = 0
  const sent = commit.groups.map(({ sends }, group): Uint8Array[] => {
    if (sends.length === 0 || isFailed.has(group)) return []
    const ofGroup = blobs.slice(next, next + sends.length)
    next += sends.length
    return ofGroup.map((bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  })
  return { kind: 'applied', now, failed: failed.sort((a, b) => a - b), sent, lastSequence, eventsAt }
}
