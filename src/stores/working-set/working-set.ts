/**
 * What has been loaded of one partition for one batch. Whatever is asked for and has not been loaded is noted as needed
 * and answered with nothing, so that the operation goes on and shows what else it would read. Its outcome counts only if
 * nothing was needed: otherwise that is loaded and the operation, which is pure, runs again.
 */
import { CALL_WORK_LIMIT, planCall } from '../../kernel/index.ts'
import type { Cell, IndexEntry, Plan, Range, RecordType } from '../../kernel/index.ts'
import { inRange } from './index-overlay.ts'
import { cellsOf } from '../record-text.ts'
import type { Call } from '../store.ts'
import type { StoredData } from './stored-data.ts'
import { Needs, rangeKey, scoreKey } from './needs.ts'

interface Head {
  readonly entries: readonly IndexEntry[]
  /** Whether the index has no entry behind these. */
  readonly isWhole: boolean
}

const NO_BYTES = new Uint8Array()

export class WorkingSet implements StoredData {
  readonly #records = new Map<RecordType, Map<string, string | undefined>>()
  readonly #heads = new Map<string, Head>()
  readonly #pages = new Map<string, readonly IndexEntry[]>()
  readonly #counts = new Map<string, number>()
  readonly #scores = new Map<string, number | undefined>()
  readonly #blobs = new Map<string, Uint8Array | undefined>()
  #needs = new Needs()

  /** Everything that was needed since this was last asked. */
  takeNeeds(): Needs {
    const needs = this.#needs
    this.#needs = new Needs()
    return needs
  }

  get isMissingAny(): boolean {
    return !this.#needs.isEmpty
  }

  /** Notes what calls are going to read. Of an index that several of them take from, each gets as much as it asks for. */
  plan(calls: readonly Call[]): void {
    const needs = this.#needs
    const workLimits = new Map<string, number>()
    const claimed = new Map<string, number>()
    const work = (index: string, limit: number): void => {
      const sum = sumOf(workLimits, index, limit)
      needs.head(index, sum, true, claimed.get(index))
    }
    const plan: Plan = {
      record: (type, id) => needs.record(type, id),
      absent: (type, id) => needs.record(type, id),
      blob: (key) => void needs.blobs.add(key),
      head: (index, limit) => needs.head(index, limit, false),
      work,
      claim: (index, count) => {
        sumOf(claimed, index, count)
        work(index, count + 1)
      },
      page: (range) => needs.page(range, false),
      contents: (range) => needs.page(range, true),
    }
    for (const { operation, input } of calls) planCall(plan, operation, input)
  }

  record(type: RecordType, id: string): Cell[] | undefined {
    const known = this.#recordsOf(type)
    const text = known.get(id)
    if (text !== undefined) return cellsOf(text)
    if (!known.has(id)) this.#needs.record(type, id)
    return undefined
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
    if (count === undefined) this.#needs.counts.set(key, range)
    return count ?? 0
  }

  score(index: string, id: string, expected: number | undefined): number | undefined {
    const key = scoreKey(index, id)
    if (this.#scores.has(key)) return this.#scores.get(key)
    this.#needs.scores.set(key, { index, id, expected })
    return expected
  }

  blob(key: string): Uint8Array | undefined {
    if (this.#blobs.has(key)) return this.#blobs.get(key)
    this.#needs.blobs.add(key)
    return NO_BYTES
  }

  keepRecord(type: RecordType, id: string, text: string | undefined): void {
    this.#recordsOf(type).set(id, text)
  }

  keepHead(index: string, limit: number, entries: readonly IndexEntry[]): void {
    this.#heads.set(index, { entries, isWhole: entries.length < limit })
  }

  keepPage(key: string, entries: readonly IndexEntry[]): void {
    this.#pages.set(key, entries)
  }

  keepCount(key: string, count: number): void {
    this.#counts.set(key, count)
  }

  keepScore(key: string, score: number | undefined): void {
    this.#scores.set(key, score)
  }

  keepBlob(key: string, bytes: Uint8Array | undefined): void {
    this.#blobs.set(key, bytes)
  }

  #recordsOf(type: RecordType): Map<string, string | undefined> {
    let records = this.#records.get(type)
    if (records === undefined) {
      records = new Map()
      this.#records.set(type, records)
    }
    return records
  }

  /** The range as far as the head of its index tells all of it. */
  #fromHead(range: Range, least: number): IndexEntry[] | undefined {
    const head = this.#heads.get(range.index)
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

  /** Notes the head of an index as too short for a range that begins in it. */
  #needsLongerHead(range: Range, least: number): boolean {
    const { index, from } = range
    if (range.reverse === true) return false
    const entries = this.#heads.get(index)?.entries ?? []
    const last = entries.at(-1)
    const beginsInside = from === undefined || (last !== undefined && !isBehind(from, last))
    if (beginsInside) this.#needs.head(index, Math.max(2 * entries.length, entries.length + least), false)
    return beginsInside
  }
}

/** Adds what one more call takes from an index. A call that comes after as many changes as a batch may make is not run. */
function sumOf(sums: Map<string, number>, index: string, more: number): number {
  const sum = Math.min(CALL_WORK_LIMIT, sums.get(index) ?? 0) + more
  sums.set(index, sum)
  return sum
}

/** Whether a position lies behind an entry, so that nothing up to that entry tells what comes after the position. */
function isBehind(position: { readonly score: number; readonly id?: string | undefined }, entry: IndexEntry): boolean {
  if (position.score !== entry.score) return position.score > entry.score
  return position.id !== undefined && position.id > entry.id
}
