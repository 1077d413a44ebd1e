/** Looks a store over: what it is, how its partitions stand, and what of that is wrong. */
import { COUNT_MAX } from '../kernel/index.ts'
import type { Backlog, Instant } from '../kernel/index.ts'
import type { Client } from '../client/index.ts'
import { executionPartition } from '../stores/store.ts'
import type { Partition, StoreReport, StoreSettings } from '../stores/store.ts'
import { proveIndexes, repairIndexes } from './index-check.ts'
import type { IndexCheck } from './index-check.ts'
import { printable } from './output.ts'
import { durationText } from './time-text.ts'

/** A timer this late means that nobody looks: workers and engines see to it within a second. */
const DUE_LAG_MAX_MS = 30_000
/** Removing what is past its retention is never urgent, but should not stop. */
const PURGE_LAG_MAX_MS = 3_600_000
/** Clocks further apart than this make times hard to compare. */
const CLOCK_SKEW_MAX_MS = 5_000
/** A partition with more executions is too large to be held in memory for the proof of its indexes. */
const PROOF_EXECUTIONS_MAX = 50_000

export interface Finding {
  readonly check: 'store' | 'clock' | 'due' | 'purge' | 'indexes'
  readonly verdict: 'ok' | 'warning' | 'problem'
  readonly text: string
}

export interface PartitionDiagnosis {
  readonly partition: Partition
  /** Counting stops at `countLimit`. */
  readonly executions: number
  readonly due: Backlog
  readonly purge: Backlog
  readonly events: { readonly first: number; readonly last: number }
  /** Absent if the partition is too large to be proven without repairing. */
  readonly indexes: IndexCheck | undefined
}

export interface Diagnosis {
  readonly store: StoreReport
  readonly settings: StoreSettings
  readonly clock: { readonly storeAt: Instant; readonly machineAt: Instant; readonly skewMs: number }
  readonly countLimit: number
  readonly partitions: readonly PartitionDiagnosis[]
  readonly findings: readonly Finding[]
  readonly healthy: boolean
}

export async function diagnose(client: Client, options: { readonly repair: boolean }): Promise<Diagnosis> {
  const { store, runtime } = client
  const report = await client.report()
  const partitions: PartitionDiagnosis[] = []
  let clock = { storeAt: 0, machineAt: 0, skewMs: 0 }
  const findings: Finding[] = report.warnings.map((text) => ({ check: 'store', verdict: 'warning', text }))
  for (let number = 0; number < store.settings.executionPartitions; number++) {
    const partition = executionPartition(number)
    const { result } = await client.batcher.run(partition, 'inspectPartition', { limit: COUNT_MAX })
    const machineAt = runtime.now()
    clock = { storeAt: result.at, machineAt, skewMs: result.at - machineAt }
    const { firstSequence, lastSequence } = await store.readEvents(partition, 0, 1)
    const indexes = await checkIndexes(client, partition, result.executions, options.repair)
    const { executions, due, purge } = result
    partitions.push({
      partition,
      executions,
      due,
      purge,
      events: { first: firstSequence, last: lastSequence },
      indexes,
    })
    findings.push(dueFinding(partition, due, result.at), purgeFinding(partition, purge, result.at))
    findings.push(indexFinding(partition, indexes))
  }
  findings.push(clockFinding(clock.skewMs))
  const healthy = findings.every((finding) => finding.verdict !== 'problem')
  return { store: report, settings: store.settings, clock, countLimit: COUNT_MAX, partitions, findings, healthy }
}

async function checkIndexes(
  client: Client,
  partition: Partition,
  executions: number,
  repair: boolean,
): Promise<IndexCheck | undefined> {
  if (repair) return await repairIndexes(client.batcher, partition)
  return executions > PROOF_EXECUTIONS_MAX ? undefined : proveIndexes(await client.store.dump(partition))
}

function dueFinding(partition: Partition, due: Backlog, now: Instant): Finding {
  const lagMs = lagOf(due, now)
  if (lagMs <= DUE_LAG_MAX_MS) {
    return { check: 'due', verdict: 'ok', text: `${partition}: no timer is late` }
  }
  return {
    check: 'due',
    verdict: 'problem',
    text: `${partition}: ${countText(due.count)} due, the oldest for ${durationText(lagMs)}. No engine or worker sees to them: start one, for example with flowfabric dev.`,
  }
}

function purgeFinding(partition: Partition, purge: Backlog, now: Instant): Finding {
  const lagMs = lagOf(purge, now)
  const isLate = lagMs > PURGE_LAG_MAX_MS
  const waiting = `${partition}: ${countText(purge.count)} ended and past their retention`
  return {
    check: 'purge',
    verdict: isLate ? 'warning' : 'ok',
    text: isLate ? `${waiting}, the oldest for ${durationText(lagMs)}. An engine removes them.` : waiting,
  }
}

function indexFinding(partition: Partition, indexes: IndexCheck | undefined): Finding {
  if (indexes === undefined) {
    const text = `${partition}: not checked, there are more than ${PROOF_EXECUTIONS_MAX} executions. Engines check as they run; --repair walks them all now.`
    return { check: 'indexes', verdict: 'ok', text }
  }
  const { kind, examined, problemCount, problems } = indexes
  if (problemCount === 0) {
    return { check: 'indexes', verdict: 'ok', text: `${partition}: ${examined} entries agree with their records` }
  }
  const first = problems[0]
  const example = first === undefined ? '' : ` (first: ${first.problem} of ${first.id} in ${printable(first.index)})`
  return kind === 'repaired'
    ? { check: 'indexes', verdict: 'warning', text: `${partition}: ${problemCount} entries repaired${example}` }
    : {
        check: 'indexes',
        verdict: 'problem',
        text: `${partition}: ${problemCount} entries are wrong${example}. Keep a copy of the store, report it, and run doctor --repair.`,
      }
}

function clockFinding(skewMs: number): Finding {
  const apart = durationText(Math.abs(skewMs))
  return Math.abs(skewMs) <= CLOCK_SKEW_MAX_MS
    ? { check: 'clock', verdict: 'ok', text: `the store and this machine are ${apart} apart` }
    : {
        check: 'clock',
        verdict: 'warning',
        text: `the store and this machine are ${apart} apart: set one of them right`,
      }
}

function lagOf(backlog: Backlog, now: Instant): number {
  return backlog.oldestAt === undefined ? 0 : now - backlog.oldestAt
}

function countText(count: number): string {
  return count >= COUNT_MAX ? `${COUNT_MAX} or more` : String(count)
}
