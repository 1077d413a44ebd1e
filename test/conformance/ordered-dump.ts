/** A store may hand its rows out in any order; only the log has one. In order, two looks at a partition can be compared. */
import type { PartitionDump } from '../../src/stores/store.ts'

export function ordered({ records, entries, blobKeys, events }: PartitionDump): PartitionDump {
  return {
    records: records.toSorted((a, b) => compareText(a.type, b.type) || compareText(a.id, b.id)),
    entries: entries.toSorted((a, b) => compareText(a.index, b.index) || a.score - b.score || compareText(a.id, b.id)),
    blobKeys: blobKeys.toSorted(compareText),
    events,
  }
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
