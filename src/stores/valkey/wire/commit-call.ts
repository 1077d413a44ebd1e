/**
 * Encodes the call of a commit and decodes its reply. The writes of all groups are merged, so that the server applies them
 * with few commands. Each item carries its group, in case the conditions of some groups fail.
 */
import { isEndEvent, isReadyIndex, isTimersIndex } from '../../../kernel/index.ts'
import type { AnyRecord } from '../../../kernel/index.ts'
import type {
  Commit,
  CommitReply,
  Condition,
  EntryPut,
  OfOperation,
  RecordPut,
} from '../../working-set/commit/backend.ts'
import type { CallWriter, FunctionCall } from './call-writer.ts'
import { idParts, memberIdParts } from '../layout/keys.ts'
import type { KeyHeads, Keys } from '../layout/keys.ts'
import type { FunctionNames } from './function-names.ts'
import { VERSION_BYTES, asBytes, writeEventValue, writeRecordValue } from '../layout/stored-value.ts'
import type { StoredForm } from '../layout/stored-value.ts'
import { jsonItems, messageHead } from './wake-message.ts'

const EXPECTED_BYTES = VERSION_BYTES + 4
const COUNTS = 12
/** The mark of an index and three counts. */
const INDEX_BYTES = 8
/** The version of a larger value is read by itself, which costs the server less than to read the value. */
const SMALL_BYTES_MAX = 1_024
/** Stands for the lag of a caller whose own clock has gone back. */
const CLOCK_BACK = 'back'
/** The marks of indexes: one wakes listeners when it has an earlier first entry, one when it was empty. */
const NO_MARK = 0
const FIRST_MARK = 1
const READY_MARK = 2

/** Writes the call of one commit, in the order that `library.lua` describes, and what is read ahead of it. */
export function writeCommit(
  writer: CallWriter,
  functions: FunctionNames,
  keys: Keys,
  commit: Commit,
  form: StoredForm,
  sender: string,
): FunctionCall {
  const prefix = keys.partition(commit.partition)
  const heads = keys.heads(commit.partition)
  if (commit.sends.length > 0) {
    writer.beginRead()
    for (const { key } of commit.sends) writer.name(heads.blob, key, idParts.blob)
    writer.endRead(prefix)
  }
  const name = commit.finishesWork ? functions.commitWhenFull : functions.commit
  writer.begin(name, [prefix, keys.channels(commit.partition)])
  writer.argument(commit.now)
  writer.argument(commit.lagMs ?? (commit.isClockBack === true ? CLOCK_BACK : ''))
  writer.latin1Argument(commit.lock ?? '')
  writer.argument(commit.passesLock ? '1' : '')
  writer.argument(messageHead(sender))
  writer.argument(jsonItems(commit.holdersOf))
  writer.argument(jsonItems(endedIn(commit)))
  writer.argument(jsonItems(commit.grown))
  new CommitWriter(writer, heads, commit, form).write()
  return writer.finish()
}

/** Writes what all groups of a commit expect and change, kind by kind. */
class CommitWriter {
  readonly #writer: CallWriter
  readonly #heads: KeyHeads
  readonly #commit: Commit
  readonly #form: StoredForm
  /** Where the next group number is written; undefined if there is only one group. */
  #groupAt: number | undefined
  /** Where the counts of the next index are written. */
  #indexCountsAt = 0

  constructor(writer: CallWriter, heads: KeyHeads, commit: Commit, form: StoredForm) {
    this.#writer = writer
    this.#heads = heads
    this.#commit = commit
    this.#form = form
  }

  write(): void {
    const writer = this.#writer
    const { groupCount, conditions, clear, records, blobs, events, entries } = this.#commit
    const matches = matchesOf(this.#commit)
    const unreserved = unreservedOf(this.#commit)
    const countsAt = writer.reserve(2 * COUNTS + INDEX_BYTES * indexCountOf(this.#commit, unreserved))
    this.#indexCountsAt = countsAt + 2 * COUNTS
    const itemCount = matches.otherCount + clear.length + records.length + blobs.length + events.length + entries.length
    const groupsAt = writer.reserve(groupCount > 1 ? 2 * itemCount : 0)
    if (groupCount > 1) this.#groupAt = groupsAt
    let present = 0
    for (const { version } of conditions) if (version !== undefined) present += 1
    this.#expected(writer.reserve(EXPECTED_BYTES * present), matches)
    const counts = [groupCount, ...this.#sets(matches), ...this.#others(matches)]
    counts.push(this.#clear(), this.#removes(), this.#events(), this.#indexes(unreserved))
    for (let i = 0; i < COUNTS; i++) writer.fill16(countsAt + 2 * i, counts[i] as number)
  }

  /** Fills in the expected versions and lengths: first of all small records, then of all large ones. */
  #expected(start: number, { sets, others }: Matches): void {
    let at = start
    for (const kind of ['small', 'large'] as const) {
      for (const { condition } of sets[kind]) at = this.#fillExpected(at, condition)
      for (const condition of others[kind]) at = this.#fillExpected(at, condition)
    }
  }

  #fillExpected(at: number, { version = '', length }: Condition): number {
    // A value without room for a version was damaged outside and has a shorter one.
    this.#writer.fillLatin1(at, version.padEnd(VERSION_BYTES, '\0'))
    this.#writer.fill32(at + VERSION_BYTES, length)
    return at + EXPECTED_BYTES
  }

  /** Returns how many keys with values must be absent, are small, are large, and are there in all. */
  #sets({ sets, free }: Matches): [absent: number, small: number, large: number, all: number] {
    const { blobs } = this.#commit
    for (const kind of conditionKinds) for (const { put } of sets[kind]) this.#set(put)
    for (const put of free) this.#set(put)
    let count = sets.absent.length + sets.small.length + sets.large.length + free.length
    for (const blob of blobs) {
      if (blob.bytes === undefined) continue
      this.#key('blob', blob.key)
      this.#writer.bytesArgument(blob.bytes)
      this.#note(blob)
      count += 1
    }
    return [sets.absent.length, sets.small.length, sets.large.length, count]
  }

  #set(put: RecordSet): void {
    const writer = this.#writer
    this.#key(put.type, put.id)
    const value = writer.open()
    writeRecordValue(this.#commit.version, put.record, this.#form, writer)
    put.length = writer.close(value)
    this.#note(put)
  }

  /** Returns how many further keys must be absent, are small and are large. */
  #others({ others }: Matches): [absent: number, small: number, large: number] {
    for (const kind of conditionKinds) {
      for (const condition of others[kind]) {
        this.#key(condition.type, condition.id)
        this.#note(condition)
      }
    }
    return [others.absent.length, others.small.length, others.large.length]
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

  #indexes(unreserved: Map<string, Set<string>>): number {
    const { entries } = this.#commit
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
    const mark = markOf(index, added)
    const at = this.#indexCountsAt
    writer.fill16(at, mark)
    writer.fill16(at + 2, unreserved?.size ?? 0)
    writer.fill16(at + 4, end - start - added)
    writer.fill16(at + 6, added)
    this.#indexCountsAt += INDEX_BYTES
    this.#key('index', index)
    if (mark === READY_MARK) writer.argument(JSON.stringify(index))
    const parts = memberIdParts(index)
    for (const id of unreserved ?? []) writer.member(id, parts)
    for (let i = start; i < end; i++) {
      const entry = entries[i] as EntryPut
      if (entry.after !== undefined) continue
      writer.member(entry.id, parts)
      this.#note(entry)
    }
    for (let i = start; i < end; i++) {
      const entry = entries[i] as EntryPut
      if (entry.after === undefined) continue
      writer.argument(entry.after)
      writer.member(entry.id, parts)
      this.#note(entry)
    }
  }

  #key(kind: keyof KeyHeads, id: string): void {
    this.#writer.name(this.#heads[kind], id, idParts[kind])
  }

  /** Notes the group of the next item; groups are counted from 1. */
  #note({ operation }: OfOperation): void {
    if (this.#groupAt === undefined) return
    this.#writer.fill16(this.#groupAt, (this.#commit.groupOf[operation] as number) + 1)
    this.#groupAt += 2
  }
}

/** What the key of a record must hold for a group to be applied: nothing, or a value of an expected version and length. */
const conditionKinds = ['absent', 'small', 'large'] as const
type ConditionKind = (typeof conditionKinds)[number]

type RecordSet = RecordPut & { readonly record: AnyRecord }

/** Conditions beside the sets of the same records, so that a key is sent once. */
interface Matches {
  readonly sets: Readonly<Record<ConditionKind, { readonly put: RecordSet; readonly condition: Condition }[]>>
  /** Sets without a condition. */
  readonly free: RecordSet[]
  /** Conditions on records that are not set. */
  readonly others: Readonly<Record<ConditionKind, Condition[]>>
  readonly otherCount: number
}

function matchesOf({ conditions, records }: Commit): Matches {
  const sets: Matches['sets'] = { absent: [], small: [], large: [] }
  const others: Matches['others'] = { absent: [], small: [], large: [] }
  let setCount = 0
  let otherCount = 0
  for (const condition of conditions) {
    const { put } = condition
    if (put !== undefined && isSet(put)) {
      sets[kindOf(condition)].push({ put, condition })
      setCount += 1
    } else {
      others[kindOf(condition)].push(condition)
      otherCount += 1
    }
  }
  const all = records.filter(isSet)
  const free =
    setCount === all.length ? [] : all.filter((put) => !conditions.some((condition) => condition.put === put))
  return { sets, free, others, otherCount }
}

function isSet(put: RecordPut): put is RecordSet {
  return put.record !== undefined
}

function kindOf({ version, length }: Condition): ConditionKind {
  if (version === undefined) return 'absent'
  return length > SMALL_BYTES_MAX ? 'large' : 'small'
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

/** Entries of one index stand together. */
function indexCountOf({ entries }: Commit, unreserved: ReadonlyMap<string, unknown>): number {
  let count = unreserved.size
  let last: string | undefined
  for (const { index } of entries) {
    if (index !== last && !unreserved.has(index)) count += 1
    last = index
  }
  return count
}

function markOf(index: string, addedCount: number): number {
  if (isTimersIndex(index)) return FIRST_MARK
  return addedCount > 0 && isReadyIndex(index) ? READY_MARK : NO_MARK
}

function endedIn({ events }: Commit): string[] {
  const ended: string[] = []
  for (const { event } of events) if (isEndEvent(event.type)) ended.push(event.executionId)
  return ended
}

const refusals = ['locked', 'lock_lost', 'clock'] as const
/** The status of a commit that was refused because the store has a level that the library cannot run. */
const OTHER_LEVEL = 4

/** Returns the level that a commit was refused for. */
export function refusedLevel(reply: unknown): number | undefined {
  const [status, , level] = reply as number[]
  return status === OTHER_LEVEL ? level : undefined
}

/** `blobs` is what the read ahead of the commit found. */
export function readCommit(reply: unknown, blobs: unknown): CommitReply {
  const [status, now, lastSequence, eventsAt, failed] = reply as [number, number, number, number, number[]]
  const reason = refusals[status - 1]
  if (reason !== undefined) return { kind: 'refused', reason, now }
  const sent = (blobs as readonly (Buffer | null)[]).map(asBytes)
  return { kind: 'applied', now, failed: failed.sort((a, b) => a - b), sent, lastSequence, eventsAt }
}
