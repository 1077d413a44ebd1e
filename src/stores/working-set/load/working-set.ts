/**
 * The data of one partition that is loaded for one batch. A read of missing data is recorded as a need and returns nothing,
 * so that the operation continues and shows its other reads. The outcome counts only if nothing was missing: otherwise the
 * needs are loaded and the operation, which is pure, runs again.
 */
import { guardOf } from '../../../kernel/index.ts'
import type { AnyRecord, IndexEntry, Range, RecordType } from '../../../kernel/index.ts'
import { readRecordText } from '../../sql/record-text.ts'
import type { Call } from '../../store.ts'
import { planCalls } from './batch-plan.ts'
import { flowIdIn } from '../overlay/held-record.ts'
import { inRange } from '../overlay/index-overlay.ts'
import { Needs, rangeKey, scoreKey } from './needs.ts'
import { PRESENT, UNREADABLE } from '../overlay/stored-data.ts'
import type { FoundRecord, StoredData, StoredRecord, Version } from '../overlay/stored-data.ts'

/** The first entries of an index. */
export interface Head {
  readonly entries: readonly IndexEntry[]
  /** Whether the index has no further entries. */
  readonly isWhole: boolean
}

/** A record in the working set. */
interface KnownRecord extends FoundRecord {
  readonly version: Version | undefined
  readonly length: number
  /** The load that it came from; 0 if it was cached or assumed. */
  readonly moment: number
  /** Its stored text, parsed at the first read. */
  text: string | undefined
  record: AnyRecord | typeof UNREADABLE | undefined
  readonly entries: readonly IndexEntry[] | undefined
}

export interface HeadDetail {
  readonly to?: number | undefined
  /** How many of the entries are reserved for this batch. */
  readonly reservedCount?: number | undefined
  /** Whether entries reserved by others are hidden from this batch. */
  readonly isHiding?: boolean | undefined
}

interface EdgesBeforehand {
  /** Whether all edges of this version of a flow are known. */
  readonly knows: (flowId: string, version: Version) => boolean
  /** All entries of an index of such a flow, in order. */
  readonly entriesIn: (index: string, flowId: string) => IndexEntry[]
}

/** What a process knows of a partition before a batch loads anything. */
export interface Beforehand {
  /**
   * Returns a cached record, or that a record is stored. Nothing is known of any other, so one that a plan expects to be absent
   * is assumed to be.
   */
  readonly recall: (type: RecordType, id: string) => StoredRecord | typeof PRESENT | undefined
  /** Edges of flows, under the versions that this process has written. */
  readonly edges?: EdgesBeforehand | undefined
  /** Whether an index is believed to have nothing ready or due. Left out: no index is. */
  readonly isBelievedClear?: ((index: string) => boolean) | undefined
}

const NO_BYTES = new Uint8Array()
const ABSENT = knownAs(undefined, 0)

export class WorkingSet implements StoredData {
  readonly name: string
  /** Whether blobs are read with the commit. */
  sendsLate = false
  readonly #before: Beforehand | undefined
  readonly #records = new Map<RecordType, Map<string, KnownRecord>>()
  readonly #heads = new Map<string, Head>()
  readonly #pages = new Map<string, readonly IndexEntry[]>()
  readonly #counts = new Map<string, number>()
  readonly #scores = new Map<string, number | undefined>()
  readonly #blobs = new Map<string, Uint8Array | undefined>()
  readonly #hiding = new Set<string>()
  readonly #reserved: IndexEntry[] = []
  readonly #assumedClear = new Set<string>()
  readonly #indexMoments = new Map<string, number>()
  /** All needs so far. */
  readonly #asked = new Needs()
  #needs = new Needs()
  #moment = 0

  /** `name` identifies the reservations of this batch. */
  constructor(before?: Beforehand, name = '') {
    this.#before = before
    this.name = name
  }

  /** Returns the needs since the last call. Data kept from now on comes from one load. */
  takeNeeds(): Needs {
    const needs = this.#needs
    this.#needs = new Needs()
    this.#asked.merge(needs)
    this.#moment += 1
    return needs
  }

  /** Adds all needs of another run of the same batch, to load them together. */
  planAgain({ asked }: WorkingSet): void {
    this.#needs.merge(asked)
  }

  get asked(): Needs {
    return this.#asked
  }

  /** The number of loads. */
  get loadCount(): number {
    return this.#moment
  }

  /** Entries that are hidden from other claims for a short time. */
  get reserved(): readonly IndexEntry[] {
    return this.#reserved
  }

  /** Whether a record is known or about to be loaded. */
  plans(type: RecordType, id: string): boolean {
    return this.#recordsOf(type).has(id) || this.#needs.records.get(type)?.has(id) === true
  }

  get isMissingAny(): boolean {
    return !this.#needs.isEmpty
  }

  /** Adds the planned reads of calls. */
  plan(calls: readonly Call[]): void {
    const claimed = planCalls(calls, {
      needs: this.#needs,
      isKnown: (type, id) => this.#isKnown(type, id),
      assumeAbsent: (type, id) => this.#assumeAbsent(type, id),
      knowsIndex: (index) => this.#recallHead(index) !== undefined,
      sendsLate: this.sendsLate,
    })
    if (claimed !== undefined) this.#assumeClear(claimed)
  }

  #assumeAbsent(type: RecordType, id: string): boolean {
    if (this.#before === undefined) return false
    const records = this.#recordsOf(type)
    if (records.has(id)) return true
    const stored = this.#before.recall(type, id)
    if (stored === PRESENT) return false
    records.set(id, stored === undefined ? ABSENT : knownAs(stored, 0))
    return true
  }

  /**
   * Assumes that indexes have nothing ready or due, if that is believed of all of them. Claims then take work that their batch
   * makes ready without a load. The commit checks the assumption.
   */
  #assumeClear(indexes: ReadonlySet<string>): void {
    const isBelievedClear = this.#before?.isBelievedClear
    if (isBelievedClear === undefined || ![...indexes].every((index) => isBelievedClear(index))) return
    for (const index of indexes) {
      this.#heads.set(index, { entries: [], isWhole: true })
      this.#assumedClear.add(index)
      this.#needs.withoutHead(index)
    }
  }

  /** Reads of such an index count only if the commit confirms them. */
  assumesClear(index: string): boolean {
    return this.#assumedClear.has(index)
  }

  /** Adds a need and returns undefined if the record was neither loaded nor cached. */
  find(type: RecordType, id: string): FoundRecord | undefined {
    const known = this.#known(type, id)
    if (known === undefined) {
      this.#needs.record(type, id)
      return undefined
    }
    if (known.text !== undefined) {
      known.record = readRecordText(type, known.text)
      known.text = undefined
    }
    return known
  }

  indexMomentOf(index: string): number {
    return this.#indexMoments.get(index) ?? 0
  }

  /** Undefined if it was not loaded. */
  headOf(index: string): Head | undefined {
    return this.#heads.get(index)
  }

  hides(index: string): boolean {
    return this.#hiding.has(index)
  }

  range(range: Range, least = range.limit): IndexEntry[] {
    const fromHead = range.reverse === true ? undefined : this.#fromHead(range, least)
    if (fromHead !== undefined) return fromHead
    const key = rangeKey(range)
    const page = this.#pages.get(key)
    if (page !== undefined) return [...page]
    if (!this.#needsLongerHead(range, least)) this.#needs.page(range, false)
    return []
  }

  count(range: Range): number {
    const key = rangeKey(range)
    const count = this.#counts.get(key)
    if (count === undefined) this.#needs.count(key, range)
    return count ?? 0
  }

  score(index: string, id: string, expected: number | undefined): number | undefined {
    const key = scoreKey(index, id)
    if (this.#scores.has(key)) return this.#scores.get(key)
    this.#needs.score(key, { index, id, expected })
    return expected
  }

  blob(key: string): Uint8Array | undefined {
    if (this.#blobs.has(key)) return this.#blobs.get(key)
    this.#needs.blob(key)
    return NO_BYTES
  }

  /** A record from an earlier load stays: a run sees one version, and the commit compares it. */
  keepRecord(type: RecordType, id: string, stored: StoredRecord | undefined): void {
    const records = this.#recordsOf(type)
    const known = records.get(id)
    if (known !== undefined && (known.moment > 0 || known.version === stored?.version)) return
    records.set(id, knownAs(stored, this.#moment))
  }

  /** The same for a store that locks: the text of a record, parsed lazily. */
  keepText(type: RecordType, id: string, text: string | undefined): void {
    const known = knownAs(undefined, this.#moment)
    known.text = text
    this.#recordsOf(type).set(id, known)
  }

  /** `to` is the score of the need: entries after the first one past it were not loaded. */
  keepHead(
    index: string,
    limit: number,
    entries: readonly IndexEntry[],
    { to = Infinity, reservedCount = 0, isHiding = false }: HeadDetail = {},
  ): void {
    const isCut = (entries.at(-1)?.score ?? 0) > to
    this.#heads.set(index, { entries, isWhole: entries.length < limit && !isCut })
    this.#noteIndex(index)
    for (const entry of entries.slice(0, reservedCount)) if (entry.score <= to) this.#reserved.push(entry)
    if (isHiding) this.#hiding.add(index)
  }

  keepPage(key: string, { index }: Range, entries: readonly IndexEntry[]): void {
    this.#pages.set(key, entries)
    this.#noteIndex(index)
  }

  keepCount(key: string, { index }: Range, count: number): void {
    this.#counts.set(key, count)
    this.#noteIndex(index)
  }

  keepScore(key: string, score: number | undefined): void {
    this.#scores.set(key, score)
  }

  keepBlob(key: string, bytes: Uint8Array | undefined): void {
    this.#blobs.set(key, bytes)
  }

  #noteIndex(index: string): void {
    if (!this.#indexMoments.has(index)) this.#indexMoments.set(index, this.#moment)
  }

  #isKnown(type: RecordType, id: string): boolean {
    return this.#known(type, id) !== undefined
  }

  #known(type: RecordType, id: string): KnownRecord | undefined {
    const records = this.#recordsOf(type)
    const known = records.get(id)
    if (known !== undefined) return known
    const stored = this.#before?.recall(type, id)
    if (stored === undefined || stored === PRESENT) return undefined
    const recalled = knownAs(stored, 0)
    records.set(id, recalled)
    return recalled
  }

  #recordsOf(type: RecordType): Map<string, KnownRecord> {
    let records = this.#records.get(type)
    if (records === undefined) {
      records = new Map()
      this.#records.set(type, records)
    }
    return records
  }

  /** Returns the range from the head of its index, if the head covers it. */
  #fromHead(range: Range, least: number): IndexEntry[] | undefined {
    const head = this.#heads.get(range.index) ?? this.#recallHead(range.index)
    if (head === undefined) return undefined
    const { entries, isWhole } = head
    const last = entries.at(-1)
    const found: IndexEntry[] = []
    for (const entry of entries) {
      if (found.length === range.limit) break
      if (inRange(range, entry.score, entry.id)) found.push(entry)
    }
    const isBeyond = range.to !== undefined && last !== undefined && last.score > range.to
    return found.length >= least || isWhole || isBeyond ? found : undefined
  }

  /** All of an index that a flow guards, if the edges of the flow are known. */
  #recallHead(index: string): Head | undefined {
    const flowId = this.recalledFlow(index)
    const entries = flowId === undefined ? undefined : this.#before?.edges?.entriesIn(index, flowId)
    return entries === undefined ? undefined : { entries, isWhole: true }
  }

  /**
   * The flow whose version stands for the content of an index that is known without a load. Checked at every read: a load of
   * another version of the flow invalidates the known entries.
   */
  recalledFlow(index: string): string | undefined {
    const edges = this.#before?.edges
    if (edges === undefined || this.#heads.has(index)) return undefined
    const guard = guardOf(index)
    if (guard.kind !== 'flow_of') return undefined
    const flowId = flowIdIn(this.#known('execution', guard.executionId)?.record)
    const flow = flowId === undefined ? undefined : this.#known('flow', flowId)
    if (flowId === undefined || flow?.version === undefined || flow.moment > 0) return undefined
    return edges.knows(flowId, flow.version) ? flowId : undefined
  }

  /** Adds a need for a longer head, if the range begins in the head of its index. */
  #needsLongerHead(range: Range, least: number): boolean {
    const { index, from } = range
    if (range.reverse === true) return false
    const entries = this.#heads.get(index)?.entries ?? []
    const last = entries.at(-1)
    const beginsInside = from === undefined || (last !== undefined && !isBehind(from, last))
    if (!beginsInside) return false
    // Reserved entries of the due index stay hidden in a longer head.
    const reserve = range.to === undefined ? 0 : this.#asked.heads.get(index)?.reserve
    this.#needs.head(index, Math.max(2 * entries.length, entries.length + least), false, reserve, range.to)
    return true
  }
}

function knownAs(stored: StoredRecord | undefined, moment: number): KnownRecord {
  const record = stored === undefined ? undefined : (stored.record ?? UNREADABLE)
  const { version, length = 0, entries } = stored ?? {}
  return { version, length, moment, text: undefined, record, entries }
}

/** Whether a position is past an entry. */
function isBehind(position: { readonly score: number; readonly id?: string | undefined }, entry: IndexEntry): boolean {
  if (position.score !== entry.score) return position.score > entry.score
  return position.id !== undefined && position.id > entry.id
}
