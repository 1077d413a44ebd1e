/**
 * A commit as the function library takes it and answers it. What all groups write is merged, so that the server applies it
 * with few commands; beside it stands the group of each item, for the case that the conditions of some do not hold.
 */
import { DUE_INDEX, isReadyIndex, tellsEnd } from '../../kernel/index.ts'
import type { Commit, CommitGroup, CommitReply, Condition } from '../working-set/backend.ts'
import type { Argument } from './connection.ts'
import { keyKinds } from './keys.ts'
import type { Keys } from './keys.ts'
import { VERSION_BYTES, eventValue, recordValue } from './stored-value.ts'
import type { BodyForm, Related } from './stored-value.ts'
import { jsonItems, messageHead } from './wake-message.ts'

const EXPECTED_BYTES = VERSION_BYTES + 4
/** The mark of an index that wakes listeners when it has an earlier first entry. */
const FIRST_MARK = '<'

export interface CommitForm extends BodyForm, Related {}

/** Arguments of one kind, and the number of the group of each item among them, counted from 1. */
class Section {
  readonly args: Argument[] = []
  readonly groups: number[] = []

  add(group: number, ...args: Argument[]): void {
    for (const arg of args) this.args.push(arg)
    this.groups.push(group)
  }

  get count(): number {
    return this.groups.length
  }
}

interface IndexSection {
  /** Ids whose reservations end, without those whose entries are written: that ends them too. */
  readonly unreserved: Set<string>
  readonly removed: Section
  readonly added: Section
}

/** All groups of a commit, merged. */
class MergedGroups {
  readonly absent = new Section()
  readonly present = new Section()
  readonly sends = new Section()
  readonly sets = new Section()
  readonly removes = new Section()
  readonly events = new Section()
  readonly ended = new Section()
  readonly indexes = new Map<string, IndexSection>()
  readonly expected: Condition[] = []
  readonly #prefix: string
  readonly #commit: Commit
  readonly #form: CommitForm

  constructor(prefix: string, commit: Commit, form: CommitForm) {
    this.#prefix = prefix
    this.#commit = commit
    this.#form = form
    for (const { index, id } of commit.reserved) this.#index(index).unreserved.add(id)
    commit.groups.forEach((group, i) => this.#add(group, i + 1))
    this.#addEvents()
  }

  get plain(): Section[] {
    return [this.absent, this.present, this.sends, this.sets, this.removes, this.events, this.ended]
  }

  #add({ conditions, records, entries, blobs, sends }: CommitGroup, group: number): void {
    const { version } = this.#commit
    for (const condition of conditions) {
      const key = this.#key(condition.type, condition.id)
      if (condition.version === undefined) {
        this.absent.add(group, key)
      } else {
        this.present.add(group, key)
        this.expected.push(condition)
      }
    }
    for (const put of records) {
      const key = this.#key(put.type, put.id)
      if (put.record === undefined) {
        this.removes.add(group, key)
        continue
      }
      const value = recordValue(version, put.record, this.#form, this.#form)
      put.length = value.length
      this.sets.add(group, key, value)
    }
    for (const { key, bytes } of blobs) {
      if (bytes === undefined) this.removes.add(group, this.#key('blob', key))
      else this.sets.add(group, this.#key('blob', key), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    }
    for (const { index, id, after } of entries) {
      const { unreserved, removed, added } = this.#index(index)
      unreserved.delete(id)
      if (after === undefined) removed.add(group, id)
      else added.add(group, after, id)
    }
    for (const key of sends) this.sends.add(group, this.#key('blob', key))
  }

  /** In the order of their places, whichever groups they are of. */
  #addEvents(): void {
    const { now, groups } = this.#commit
    const all = groups.flatMap(({ events, eventPlaces }, i) =>
      events.map((event, k) => ({ event, group: i + 1, place: eventPlaces?.[k] ?? 0 })),
    )
    all.sort((a, b) => a.place - b.place)
    for (const { event, group } of all) {
      this.events.add(group, eventValue(now, event, this.#form))
      if (tellsEnd(event.type)) this.ended.add(group, JSON.stringify(event.executionId))
    }
  }

  #key(kind: keyof typeof keyKinds, id: string): string {
    return this.#prefix + keyKinds[kind] + id
  }

  #index(index: string): IndexSection {
    let section = this.indexes.get(index)
    if (section === undefined) {
      section = { unreserved: new Set(), removed: new Section(), added: new Section() }
      this.indexes.set(index, section)
    }
    return section
  }
}

/** The arguments behind the keys. */
export function packCommit(keys: Keys, commit: Commit, form: CommitForm, sender: string): Argument[] {
  const prefix = keys.partition(commit.partition)
  const merged = new MergedGroups(prefix, commit, form)
  const counts = [...merged.plain.map(({ count }) => count), merged.indexes.size]
  const args: Argument[] = [
    commit.now,
    commit.lagMs ?? '',
    commit.lock === undefined ? '' : Buffer.from(commit.lock, 'latin1'),
    commit.passesLock ? '1' : '',
    messageHead(sender),
    jsonItems(commit.holdersOf),
    numbersOf([commit.groups.length, ...counts]),
    commit.groups.length > 1 ? groupsOf(merged) : '',
    expectedOf(merged.expected),
  ]
  for (const section of merged.plain) pushAll(args, section.args)
  for (const [index, { unreserved, removed, added }] of merged.indexes) {
    args.push(prefix + keyKinds.index + index, markOf(index), unreserved.size, removed.count, added.count)
    for (const id of unreserved) args.push(id)
    pushAll(args, removed.args)
    pushAll(args, added.args)
  }
  return args
}

function pushAll(args: Argument[], more: readonly Argument[]): void {
  for (const arg of more) args.push(arg)
}

function markOf(index: string): string {
  if (index === DUE_INDEX) return FIRST_MARK
  return isReadyIndex(index) ? JSON.stringify(index) : ''
}

function numbersOf(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * numbers.length)
  numbers.forEach((number, i) => bytes.writeUInt32LE(number, 4 * i))
  return bytes
}

function expectedOf(conditions: readonly Condition[]): Buffer {
  const bytes = Buffer.alloc(EXPECTED_BYTES * conditions.length)
  let at = 0
  for (const { version = '', length } of conditions) {
    bytes.write(version, at, VERSION_BYTES, 'latin1')
    at = bytes.writeUInt32LE(length, at + VERSION_BYTES)
  }
  return bytes
}

/** Two bytes for each item, in the order in which the arguments name them. */
function groupsOf({ plain, indexes }: MergedGroups): Buffer {
  const sections = [...plain, ...[...indexes.values()].flatMap(({ removed, added }) => [removed, added])]
  const bytes = Buffer.allocUnsafe(2 * sections.reduce((sum, { count }) => sum + count, 0))
  let at = 0
  for (const { groups } of sections) {
    for (const group of groups) at = bytes.writeUInt16LE(group, at)
  }
  return bytes
}

const refusals = ['locked', 'lock_lost', 'clock'] as const

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
