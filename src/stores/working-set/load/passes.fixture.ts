/** A partition that is loaded as from a server, need by need, and counts how often its batches had to run. */
import { STEP_PAGE_BYTES, compareKeyed, isFlowId, payloadKey } from '../../../kernel/index.ts'
import type { AnyRecord, IndexEntry, Range, RecordType } from '../../../kernel/index.ts'
import { inRange } from '../overlay/index-overlay.ts'
import { recordText } from '../../sql/record-text.ts'
import type { Answer, Call } from '../../store.ts'
import type { Writes } from '../overlay/stored-data.ts'
import { journalIndexOf } from '../../postgres/load/load-journal.ts'
import { SMALL_PAYLOAD_BYTES, edgesOf } from '../../postgres/load/load-range.ts'
import type { Needs } from './needs.ts'
import { Passes } from './passes.ts'
import { WorkingSet } from './working-set.ts'

export class LoadedPartition {
  now = 1_700_000_000_000
  /** How often the newest batch was run. */
  passCount = 0
  readonly #records = new Map<string, AnyRecord>()
  readonly #entries = new Map<string, IndexEntry[]>()
  readonly #blobs = new Map<string, Uint8Array>()

  run(...calls: Call[]): Answer[] {
    const set = new WorkingSet()
    set.plan(calls)
    const passes = new Passes(calls)
    for (;;) {
      this.#load(set.takeNeeds(), set)
      const pass = passes.run(set, this.now)
      this.passCount = passes.count
      if (pass === undefined) continue
      this.#apply(pass.overlay.writes())
      return pass.answers
    }
  }

  #load(needs: Needs, set: WorkingSet): void {
    for (const [type, ids] of needs.records) for (const id of ids) this.#loadRecord(set, type, id)
    for (const { index, limit: most, hasPayloads, to } of needs.heads.values()) {
      const limit = to === 'now' ? 1 : most
      const entries = this.#range({ index, limit })
      this.#loadNamed(set, index, entries)
      for (const { id } of entries) {
        const payload = this.#blobs.get(payloadKey(id))
        const isSmall = payload === undefined || payload.byteLength <= SMALL_PAYLOAD_BYTES
        if (hasPayloads && isSmall) set.keepBlob(payloadKey(id), payload)
      }
      set.keepHead(index, limit, entries)
    }
    for (const [key, { range, hasPayloads }] of needs.pages) {
      const entries = this.#range(range)
      this.#loadNamed(set, range.index, entries)
      if (hasPayloads) this.#loadContents(set, range.index, entries)
      set.keepPage(key, range, entries)
    }
    for (const [key, range] of needs.counts) set.keepCount(key, range, this.#range(range).length)
    for (const [key, { index, id }] of needs.scores) {
      set.keepScore(key, this.#entries.get(index)?.find((entry) => entry.id === id)?.score)
    }
    for (const key of needs.blobs) set.keepBlob(key, this.#blobs.get(key))
  }

  /** The records that come with entries. */
  #loadNamed(set: WorkingSet, index: string, entries: readonly IndexEntry[]): void {
    const edges = edgesOf(index)
    const journal = journalIndexOf(index)
    for (const { id } of entries) {
      if (journal !== undefined) {
        this.#loadRecord(set, journal.type, id)
        continue
      }
      this.#loadRecord(set, 'execution', id)
      if (isFlowId(id)) this.#loadRecord(set, 'flow', id)
      if (edges !== undefined) this.#loadRecord(set, 'edge', edges.before + id + edges.after)
    }
  }

  /** The bytes of what a journal's entries name, as far as one reading sends them back. */
  #loadContents(set: WorkingSet, index: string, entries: readonly IndexEntry[]): void {
    const before = journalIndexOf(index)?.bytesBefore
    let total = 0
    for (const { id } of before === undefined ? [] : entries) {
      const bytes = this.#blobs.get(`${before}${id}`)
      total += bytes?.byteLength ?? 0
      if (bytes === undefined || total <= STEP_PAGE_BYTES) set.keepBlob(`${before}${id}`, bytes)
    }
  }

  #loadRecord(set: WorkingSet, type: RecordType, id: string): void {
    const record = this.#records.get(`${type} ${id}`)
    set.keepText(type, id, record === undefined ? undefined : recordText(record))
    if (record?.type === 'execution' && record.member !== undefined) this.#loadRecord(set, 'flow', record.member.flowId)
  }

  #range(range: Range): IndexEntry[] {
    const entries = this.#entries.get(range.index) ?? []
    const found = entries.filter(({ score, id }) => inRange(range, score, id)).sort(compareKeyed)
    return (range.reverse === true ? found.reverse() : found).slice(0, range.limit)
  }

  #apply({ records, entries, blobs }: Writes): void {
    for (const { type, id, record } of records) {
      if (record === undefined) this.#records.delete(`${type} ${id}`)
      else this.#records.set(`${type} ${id}`, record)
    }
    for (const { index, id, after } of entries) {
      const others = (this.#entries.get(index) ?? []).filter((entry) => entry.id !== id)
      this.#entries.set(index, after === undefined ? others : [...others, { index, id, score: after }])
    }
    for (const { key, bytes } of blobs) {
      if (bytes === undefined) this.#blobs.delete(key)
      else this.#blobs.set(key, bytes)
    }
  }
}
