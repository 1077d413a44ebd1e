import type { Flow } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'

export function flowsOf(dump: PartitionDump): Flow[] {
  return dump.records.filter((record) => record.type === 'flow')
}
