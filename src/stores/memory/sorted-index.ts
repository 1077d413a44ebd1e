/** One index of the memory store: sorted entries in pieces, so that a change moves the entries of one piece only. */
import type { IndexEntry, Range } from '../../kernel/index.ts'
import { inRange } from '../working-set/overlay/index-overlay.ts'

/** A piece of this size is split. */
const PIECE_MAX = 256
/** An index with more entries finds them by their ids in a map. Most indexes are small, and there may be one for each record. */
const UNMAPPED_MAX = 8

export class SortedIndex {
  /** No piece is empty, except the only one of an empty index. */
  readonly #pieces: IndexEntry[][] = [[]]
  /** Absent until the index has many entries. */
  #scores: Map<string, number> | undefined

  get isEmpty(): boolean {
    return this.#pieces[0]?.length === 0
  }

  entries(): IndexEntry[] {
    return this.#pieces.flat()
  }

  scoreOf(id: string): number | undefined {
    if (this.#scores !== undefined) return this.#scores.get(id)
    return this.#pieces[0]?.find((entry) => entry.id === id)?.score
  }

  add(entry: IndexEntry): void {
    const number = this.#pieceOf(entry.score, entry.id)
    const piece = this.#pieces[number] as IndexEntry[]
    piece.splice(placeIn(piece, entry.score, entry.id), 0, entry)
    if (piece.length >= PIECE_MAX) this.#pieces.splice(number + 1, 0, piece.splice(PIECE_MAX / 2))
    if (this.#scores !== undefined) this.#scores.set(entry.id, entry.score)
    else if (piece.length > UNMAPPED_MAX) this.#scores = new Map(piece.map(({ id, score }) => [id, score]))
  }

  remove(score: number, id: string): void {
    const number = this.#pieceOf(score, id)
    const piece = this.#pieces[number] as IndexEntry[]
    const at = placeIn(piece, score, id)
    if (piece[at]?.id === id) piece.splice(at, 1)
    if (piece.length === 0 && this.#pieces.length > 1) this.#pieces.splice(number, 1)
    this.#scores?.delete(id)
  }

  range(range: Range): IndexEntry[] {
    return range.reverse === true ? this.#backwards(range) : this.#forwards(range)
  }

  #forwards(range: Range): IndexEntry[] {
    const { from, limit } = range
    const found: IndexEntry[] = []
    let number = from === undefined ? 0 : this.#pieceOf(from.score, from.id ?? '')
    let piece = this.#pieces[number]
    let at = from === undefined ? 0 : placeIn(piece ?? [], from.score, from.id ?? '')
    for (; piece !== undefined; piece = this.#pieces[++number], at = 0) {
      for (; at < piece.length; at++) {
        const entry = piece[at] as IndexEntry
        if (found.length === limit) return found
        if (inRange(range, entry.score, entry.id)) found.push(entry)
        // The start of a range is exclusive, so its entry is skipped.
        else if (from?.id !== entry.id) return found
      }
    }
    return found
  }

  #backwards(range: Range): IndexEntry[] {
    const { from, limit } = range
    // Without an id the whole score is included: start after its last entry.
    const begin = from === undefined ? undefined : { score: from.score, id: from.id ?? '\uffff' }
    const found: IndexEntry[] = []
    let number = begin === undefined ? this.#pieces.length - 1 : this.#pieceOf(begin.score, begin.id)
    let piece = this.#pieces[number]
    let at = (begin === undefined ? (piece?.length ?? 0) : placeIn(piece ?? [], begin.score, begin.id)) - 1
    for (; piece !== undefined; piece = this.#pieces[--number], at = (piece?.length ?? 0) - 1) {
      for (; at >= 0; at--) {
        const entry = piece[at] as IndexEntry
        if (found.length === limit || !inRange(range, entry.score, entry.id)) return found
        found.push(entry)
      }
    }
    return found
  }

  /** Returns the first piece that ends at or after (score, id), else the last one. */
  #pieceOf(score: number, id: string): number {
    let low = 0
    let high = this.#pieces.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      const last = this.#pieces[middle]?.at(-1)
      if (last !== undefined && isBefore(last, score, id)) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Returns the position of the first entry at or after (score, id). */
function placeIn(entries: readonly IndexEntry[], score: number, id: string): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(entries[middle] as IndexEntry, score, id)) low = middle + 1
    else high = middle
  }
  return low
}

function isBefore(entry: IndexEntry, score: number, id: string): boolean {
  return entry.score === score ? entry.id < id : entry.score < score
}
