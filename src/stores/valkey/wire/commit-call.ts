/**
 * Encodes the call of a commit and decodes its reply. The writes of all groups are merged, so that the server applies them
 * with few commands. Each item carries its group, in case the conditions of some groups fail.
 */
import { DUE_INDEX, isReadyIndex, isEndEvent } from '../../../kernel/index.ts'
import type {
  Commit,
  CommitReply,
  Condition,
  EntryPut,
  EventPut,
  OfOperation,
} from '../../working-set/commit/backend.ts'
import type { CallWriter, FunctionCall } from './call-writer.ts'
import { idParts, keyKinds, memberIdParts } from '../layout/keys.ts'
import type { Keys } from '../layout/keys.ts'
import type { FunctionNames } from './function-names.ts'
import { VERSION_BYTES, asBytes, writeEventValue, writeRecordValue } from '../layout/stored-value.ts'
import type { StoredForm } from '../layout/stored-value.ts'
import { jsonItems, messageHead } from './wake-message.ts'

const EXPECTED_BYTES = VERSION_BYTES + 4
const COUNTS = 10
/** The version of a larger value is read by itself, which costs the server less than to read the value. */
const SMALL_BYTES_MAX = 1_024
/** The mark of an index that wakes listeners when it has an earlier first entry. */
const FIRST_MARK = '<'

/** Writes the call of one commit, in the order that `library.lua` describes. */
export function writeCommit(
  writer: CallWriter,
  functions: FunctionNames,
  keys: Keys,
  commit: Commit,
  form: StoredForm,
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
  new CommitWriter(writer, prefix, commit, form).write()
  return writer.finish()
}

/** Writes what all groups of a commit expect and change, kind by kind. */
class CommitWriter {
  readonly #writer: CallWriter
  readonly #prefix: string
  readonly #commit: Commit
  readonly #form: StoredForm
  /** Where the next group number is written; undefined if there is only one group. */
  #groupAt: number | undefined

  constructor(writer: CallWriter, prefix: string, commit: Commit, form: StoredForm) {
    this.#writer = writer
    this.#prefix = prefix
    this.#commit = commit
    this.#form = form
  }

  write(): void {
    const writer = this.#writer
    const { groupCount, conditions, clear, records, blobs, events, entries } = this.#commit
    const ended = events.filter(({ event }) => isEndEvent(event.type))
    const countsAt = writer.reserve(4 * COUNTS)
    const items = [conditions, clear, records, blobs, events, ended, entries]
    const itemCount = items.reduce((sum, { length }) => sum + length, 0)
    const groupsAt = writer.reserve(groupCount > 1 ? 2 * itemCount : 0)
    if (groupCount > 1) this.#groupAt = groupsAt
    const counts = [groupCount, ...this.#conditions(), this.#clear(), this.#sets(), this.#removes()]
    counts.push(this.#events(), this.#ended(ended), this.#indexes())
    for (let i = 0; i < COUNTS; i++) writer.fill32(countsAt + 4 * i, counts[i] as number)
  }

  /** Returns how many records must be absent, and how many small and large ones are expected. */
  #conditions(): [absent: number, small: number, large: number] {
    const writer = this.#writer
    const { conditions } = this.#commit
    let small = 0
    let large = 0
    for (const { version, length } of conditions) {
      if (version === undefined) continue
      if (length > SMALL_BYTES_MAX) large += 1
      else small += 1
    }
    const expectedAt = writer.reserve(EXPECTED_BYTES * (small + large))
    for (const condition of conditions) if (condition.version === undefined) this.#condition(condition)
    this.#expected(expectedAt, (length) => length <= SMALL_BYTES_MAX)
    if (large > 0) this.#expected(expectedAt + EXPECTED_BYTES * small, (length) => length > SMALL_BYTES_MAX)
    return [conditions.length - small - large, small, large]
  }

  /** Writes the expected records of some lengths. */
  #expected(expectedAt: number, isOf: (length: number) => boolean): void {
    let at = expectedAt
    for (const condition of this.#commit.conditions) {
      const { version, length } = condition
      if (version === undefined || !isOf(length)) continue
      this.#condition(condition)
      // A value without room for a version was damaged outside and has a shorter one.
      this.#writer.fillLatin1(at, version.padEnd(VERSION_BYTES, '\0'))
      this.#writer.fill32(at + VERSION_BYTES, length)
      at += EXPECTED_BYTES
    }
  }

  #condition(condition: Condition): void {
    this.#key(condition.type, condition.id)
    this.#note(condition)
  }

  #clear(): number {
    const { clear } = this.#commit
    for (const condition of clear) {
      this.#key('index', condition.index)
      this.#writer.argument(condition.upTo ?? '')
      this.#note(condition)
    }
    return clear.length
  }

  #sets(): number {
    const writer = this.#writer
    const { records, blobs, version } = this.#commit
    let count = 0
    for (const put of records) {
      if (put.record === undefined) continue
      this.#key(put.type, put.id)
      const value = writer.open()
      writeRecordValue(version, put.record, this.#form, writer)
      put.length = writer.close(value)
      this.#note(put)
      count += 1
    }
    for (const blob of blobs) {
      if (blob.bytes === undefined) continue
      this.#key('blob', blob.key)
      writer.bytesArgument(blob.bytes)
      this.#note(blob)
      count += 1
    }
    return count
  }

  #removes(): number {
    const { records, blobs } = this.#commit
    let count = 0
    for (const put of records) {
      if (put.record !== undefined) continue
      this.#key(put.type, put.id)
      this.#note(put)
      count += 1
    }
    for (const blob of blobs) {
      if (blob.bytes !== undefined) continue
      this.#key('blob', blob.key)
      this.#note(blob)
      count += 1
    }
    return count
  }

  #events(): number {
    const writer = this.#writer
    const { events, now } = this.#commit
    for (const put of events) {
      const value = writer.open()
      writeEventValue(now, put.event, this.#form, writer)
      writer.close(value)
      this.#note(put)
    }
    return events.length
  }

  #ended(ended: readonly EventPut[]): number {
    for (const put of ended) {
      this.#writer.argument(JSON.stringify(put.event.executionId))
      this.#note(put)
    }
    return ended.length
  }

  #indexes(): number {
    const { entries } = this.#commit
    const unreserved = unreservedOf(this.#commit)
    let count = unreserved.size
    let start = 0
    while (start < entries.length) {
      const { index } = entries[start] as EntryPut
      let end = start + 1
      while (entries[end]?.index === index) end++
      if (!unreserved.has(index)) count += 1
      this.#index(index, unreserved.get(index), start, end)
      unreserved.delete(index)
      start = end
    }
    for (const [index, ids] of unreserved) this.#index(index, ids, 0, 0)
    return count
  }

  /** Writes the entries of one index, which stand together. */
  #index(index: string, unreserved: ReadonlySet<string> | undefined, start: number, end: number): void {
    const writer = this.#writer
    const { entries } = this.#commit
    let added = 0
    for (let i = start; i < end; i++) if (entries[i]?.after !== undefined) added += 1
    this.#key('index', index)
    writer.argument(markOf(index))
    writer.argument(unreserved?.size ?? 0)
    writer.argument(end - start - added)
    writer.argument(added)
    const parts = memberIdParts(index)
    for (const id of unreserved ?? []) writer.name('', id, parts)
    for (let i = start; i < end; i++) {
      const entry = entries[i] as EntryPut
      if (entry.after !== undefined) continue
      writer.name('', entry.id, parts)
      this.#note(entry)
    }
    for (let i = start; i < end; i++) {
      const entry = entries[i] as EntryPut
      if (entry.after === undefined) continue
      writer.argument(entry.after)
      writer.name('', entry.id, parts)
      this.#note(entry)
    }
  }

  #key(kind: keyof typeof keyKinds, id: string): void {
    this.#writer.name(this.#prefix + keyKinds[kind], id, idParts[kind])
  }

  /** Notes the group of the next item; groups are counted from 1. */
  #note({ operation }: OfOperation): void {
    if (this.#groupAt === undefined) return
    this.#writer.fill16(this.#groupAt, (this.#commit.groupOf[operation] as number) + 1)
    this.#groupAt += 2
  }
}

/** Ids whose reservations end, by index, without those whose entries are written: that ends them too. */
function unreservedOf({ reserved, entries }: Commit): Map<string, Set<string>> {
  const unreserved = new Map<string, Set<string>>()
  for (const { index, id } of reserved) {
    const ids = unreserved.get(index)
    if (ids === undefined) unreserved.set(index, new Set([id]))
    else ids.add(id)
  }
  if (unreserved.size > 0) for (const { index, id } of entries) unreserved.get(index)?.delete(id)
  return unreserved
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

/** What is read ahead of a commit. */
export function blobKeys(keys: Keys, { partition, sends }: Commit): Buffer[] {
  return sends.map(({ key }) => keys.key(partition, 'blob', key))
}

/** `blobs` is what the read ahead of the commit found. */
export function readCommit(reply: unknown, blobs: unknown): CommitReply {
  const [status, now, lastSequence, eventsAt, failed] = reply as [number, number, number, number, number[]]
  const reason = refusals[status - 1]
  if (reason !== undefined) return { kind: 'refused', reason, now }
  const sent = (blobs as readonly (Buffer | null)[]).map(asBytes)
  return { kind: 'applied', now, failed: failed.sort((a, b) => a - b), sent, lastSequence, eventsAt }
}
