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

export class Needs {
  readonly records = new Map<RecordType, Set<string>>()
  readonly heads = new Map<string, HeadNeed>()
  /** By the key of the range. */
  readonly pages = new Map<string, PageNeed>()
  readonly counts = new Map<string, Range>()
  readonly scores = new Map<string, ScoreNeed>()
  readonly blobs = new Set<string>()

  /** Adds the needs of another set. */
  merge({ records, heads, pages, counts, scores, blobs }: Needs): void {
    for (const [type, ids] of records) for (const id of ids) this.record(type, id)
    for (const { index, limit, hasPayloads, reserve, to } of heads.values()) {
      this.head(index, limit, hasPayloads, reserve, to)
    }
    for (const { range, hasPayloads } of pages.values()) this.page(range, hasPayloads)
    for (const [key, range] of counts) this.counts.set(key, range)
    for (const [key, score] of scores) this.scores.set(key, score)
    for (const key of blobs) this.blobs.add(key)
  }

  get isEmpty(): boolean {
    const { records, heads, pages, counts, scores, blobs } = this
    return records.size + heads.size + pages.size + counts.size + scores.size + blobs.size === 0
  }

  record(type: RecordType, id: string): void {
    let ids = this.records.get(type)
    if (ids === undefined) {
      ids = new Set()
      this.records.set(type, ids)
    }
    ids.add(id)
  }

  page(range: Range, hasPayloads: boolean): void {
    const key = rangeKey(range)
    this.pages.set(key, { range, hasPayloads: hasPayloads || this.pages.get(key)?.hasPayloads === true })
  }

  /** Merges with an earlier need of the same index. */
  head(index: string, limit: number, hasPayloads: boolean, reserve = 0, to?: HeadNeed['to']): void {
    const known = this.heads.get(index)
    if (known === undefined) {
      this.heads.set(index, { index, limit, hasPayloads, reserve, to })
      return
    }
    known.limit = Math.max(known.limit, limit)
    known.hasPayloads ||= hasPayloads
    known.reserve = Math.max(known.reserve, reserve)
    if (known.to !== to) known.to = undefined
  }
}

/** Equal ranges have equal keys. */
export function rangeKey({ index, from, to, reverse, limit }: Range): string {
  return [index, from?.score ?? '', from?.id ?? '', to ?? '', reverse === true ? 'r' : 'f', limit].join('\u0000')
}

export function scoreKey(index: string, id: string): string {
  return `${index}\u0000${id}`
}
