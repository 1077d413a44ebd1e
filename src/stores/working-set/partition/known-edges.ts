/**
 * A cache of the edges of flows that this process created in one partition: the `out` and `in` indexes of the members. Every
 * change of these indexes writes the record of the flow, so the version of a flow covers all its edges. A commit compares that
 * version.
 */
import { compareKeyed, entriesOf } from '../../../kernel/index.ts'
import type { Edge, IndexEntry } from '../../../kernel/index.ts'
import type { AppliedContent } from '../commit/commit-groups.ts'
import { writesRecord } from '../overlay/held-record.ts'
import type { HeldRecord } from '../overlay/held-record.ts'
import type { Version } from '../overlay/stored-data.ts'

/** Flows and entries in the cache at most. */
const ITEMS_MAX = 5_000

interface KnownFlow {
  version: Version
  /** By index and id. Complete: an entry that is missing here is not stored. */
  readonly indexes: Map<string, Map<string, IndexEntry>>
  /** The flow itself and its entries. */
  itemCount: number
}

export class KnownEdges {
  /** Least recently written first. */
  readonly #flows = new Map<string, KnownFlow>()
  #itemCount = 0

  /** Whether all edges of this version of a flow are known. */
  knows(flowId: string, version: Version): boolean {
    return this.#flows.get(flowId)?.version === version
  }

  /** All entries of an index of a flow that is known, in order. */
  entriesIn(index: string, flowId: string): IndexEntry[] {
    return [...(this.#flows.get(flowId)?.indexes.get(index)?.values() ?? [])].sort(compareKeyed)
  }

  /** Records the writes of a commit. */
  wrote({ touched, conditions, records }: AppliedContent, version: Version): void {
    for (const { type, id, record } of records) {
      if (type !== 'flow') continue
      const before = conditions.find((condition) => condition.type === 'flow' && condition.id === id)?.version
      this.#wroteFlow(id, record === undefined ? undefined : version, before)
    }
    for (const held of touched) {
      if (held.type !== 'edge' || !writesRecord(held)) continue
      this.#changeEntries(edgeIn(held.stored), (of, entry) => of.delete(entry.id))
      this.#changeEntries(edgeIn(held.current), (of, entry) => of.set(entry.id, entry))
    }
    for (const flowId of this.#flows.keys()) {
      if (this.#itemCount <= ITEMS_MAX) return
      this.forget(flowId)
    }
  }

  forget(flowId: string): void {
    this.#itemCount -= this.#flows.get(flowId)?.itemCount ?? 0
    this.#flows.delete(flowId)
  }

  clear(): void {
    this.#flows.clear()
    this.#itemCount = 0
  }

  /** A flow that was absent had no edges. One with an unknown earlier version may have others. */
  #wroteFlow(flowId: string, version: Version | undefined, before: Version | undefined): void {
    const known = this.#flows.get(flowId)
    this.forget(flowId)
    if (version === undefined) return
    let flow: KnownFlow
    if (before === undefined) flow = { version, indexes: new Map(), itemCount: 1 }
    else if (known?.version === before) flow = { ...known, version }
    else return
    this.#flows.set(flowId, flow)
    this.#itemCount += flow.itemCount
  }

  #changeEntries(edge: Edge | undefined, change: (of: Map<string, IndexEntry>, entry: IndexEntry) => unknown): void {
    const flow = edge === undefined ? undefined : this.#flows.get(edge.flowId)
    if (edge === undefined || flow === undefined) return
    for (const entry of entriesOf(edge)) {
      const entries = flow.indexes.get(entry.index) ?? new Map<string, IndexEntry>()
      const sizeBefore = entries.size
      change(entries, entry)
      if (entries.size === 0) flow.indexes.delete(entry.index)
      else flow.indexes.set(entry.index, entries)
      flow.itemCount += entries.size - sizeBefore
      this.#itemCount += entries.size - sizeBefore
    }
  }
}

function edgeIn(record: HeldRecord['stored']): Edge | undefined {
  return typeof record === 'object' && record.type === 'edge' ? record : undefined
}
