/** The data that a batch has to load from its partition before it can complete. */
import type { Range, RecordType } from '../../../kernel/index.ts'

/** The first entries of an index, with the executions that they name and optionally their payloads. */
export interface HeadNeed {
  readonly index: string
  limit: number
  hasPayloads: boolean
  /** How many of the entries will be claimed, so that a store may hide them from others for a short time. */
  reserve: number
  /**
   * Loads entries up to this score, and the first one past it. `now` is the time of the load; a store that does not know it
   * beforehand loads one entry. Undefined: no bound.
   */
  to: number | 'now' | undefined
}

/** A range, with the records that it names and optionally their blobs. */
export interface PageNeed {
  readonly range: Range
  readonly hasPayloads: boolean
}

export interface ScoreNeed {
  readonly index: string
  readonly id: string
  readonly expected: number | undefined
}

const NOTHING: ReadonlyMap<never, never> = new Map<never, never>()
const NO_BLOBS: ReadonlySet<string> = new Set<string>()

/** Each collection is created with its first item: most batches need few kinds of data, or none. */
export class Needs {
  #records: Map<RecordType, Set<string>> | undefined
  #heads: Map<string, HeadNeed> | undefined
  #pages: Map<string, PageNeed> | undefined
  #counts: Map<string, Range> | undefined
  #scores: Map<string, ScoreNeed> | undefined
  #blobs: Set<string> | undefined

  get records(): ReadonlyMap<RecordType, ReadonlySet<string>> {
    return this.#records ?? NOTHING
  }

  get heads(): ReadonlyMap<string, HeadNeed> {
    return this.#heads ?? NOTHING
  }

  /** By the key of the range. */
  get pages(): ReadonlyMap<string, PageNeed> {
    return this.#pages ?? NOTHING
  }

  /** By the key of the range. */
  get counts(): ReadonlyMap<string, Range> {
    return this.#counts ?? NOTHING
  }

  get scores(): ReadonlyMap<string, ScoreNeed> {
    return this.#scores ?? NOTHING
  }

  get blobs(): ReadonlySet<string> {
    return this.#blobs ?? NO_BLOBS
  }

  /** Adds the needs of another set. */
  merge({ records, heads, pages, counts, scores, blobs }: Needs): void {
    for (const [type, ids] of records) for (const id of ids) this.record(type, id)
    for (const { index, limit, hasPayloads, reserve, to } of heads.values()) {
      this.head(index, limit, hasPayloads, reserve, to)
    }
    for (const { range, hasPayloads } of pages.values()) this.page(range, hasPayloads)
    for (const [key, range] of counts) this.count(key, range)
    for (const [key, score] of scores) this.score(key, score)
    for (const key of blobs) this.blob(key)
  }

  get isEmpty(): boolean {
    const { records, heads, pages, counts, scores, blobs } = this
    return records.size + heads.size + pages.size + counts.size + scores.size + blobs.size === 0
  }

  record(type: RecordType, id: string): void {
    this.#records ??= new Map()
    const ids = this.#records.get(type)
    if (ids === undefined) this.#records.set(type, new Set([id]))
    else ids.add(id)
  }

  page(range: Range, hasPayloads: boolean): void {
    const key = rangeKey(range)
    this.#pages ??= new Map()
    this.#pages.set(key, { range, hasPayloads: hasPayloads || this.#pages.get(key)?.hasPayloads === true })
  }

  count(key: string, range: Range): void {
    this.#counts ??= new Map()
    this.#counts.set(key, range)
  }

  score(key: string, score: ScoreNeed): void {
    this.#scores ??= new Map()
    this.#scores.set(key, score)
  }

  blob(key: string): void {
    this.#blobs ??= new Set()
    this.#blobs.add(key)
  }

  /** Merges with an earlier need of the same index. */
  head(index: string, limit: number, hasPayloads: boolean, reserve = 0, to?: HeadNeed['to']): void {
    this.#heads ??= new Map()
    const known = this.#heads.get(index)
    if (known === undefined) {
      this.#heads.set(index, { index, limit, hasPayloads, reserve, to })
      return
    }
    known.limit = Math.max(known.limit, limit)
    known.hasPayloads ||= hasPayloads
    known.reserve = Math.max(known.reserve, reserve)
    if (known.to !== to) known.to = undefined
  }

  withoutHead(index: string): void {
    this.#heads?.delete(index)
  }
}

/** Equal ranges have equal keys. */
export function rangeKey({ index, from, to, reverse, limit }: Range): string {
  return [index, from?.score ?? '', from?.id ?? '', to ?? '', reverse === true ? 'r' : 'f', limit].join('\u0000')
}

export function scoreKey(index: string, id: string): string {
  return `${index}\u0000${id}`
}
