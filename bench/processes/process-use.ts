/** What processes of the benchmark have used and done, each since its start. */
import { ValkeyStore } from '../../src/stores/valkey/valkey-store.ts'
import type { Store } from '../../src/stores/store.ts'

export interface ProcessUse {
  readonly cpuMicros: number
  /** Operations on a Valkey store, and how many of them met a conflict. Zero elsewhere. */
  readonly operations: number
  readonly conflicts: number
}

/** Of the process that asks. A system without a store of FlowFabric has no operations to count. */
export function ownUse(store: Store | undefined): ProcessUse {
  const { user, system } = process.cpuUsage()
  const counts = store instanceof ValkeyStore ? store.counts : { operations: 0, conflicts: 0 }
  return { cpuMicros: user + system, ...counts }
}

/** What several processes have used between two moments, together. */
export function growthOf(before: readonly ProcessUse[], after: readonly ProcessUse[]): ProcessUse {
  const growth = (value: (use: ProcessUse) => number) => sumOf(after, value) - sumOf(before, value)
  return {
    cpuMicros: growth(({ cpuMicros }) => cpuMicros),
    operations: growth(({ operations }) => operations),
    conflicts: growth(({ conflicts }) => conflicts),
  }
}

/** Operations that met a conflict, as a share of all operations. */
export function conflictShareOf({ operations, conflicts }: ProcessUse): number {
  return operations === 0 ? 0 : conflicts / operations
}

function sumOf(uses: readonly ProcessUse[], value: (use: ProcessUse) => number): number {
  return uses.reduce((sum, use) => sum + value(use), 0)
}
