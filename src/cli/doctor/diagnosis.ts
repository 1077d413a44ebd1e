/** Diagnoses a store: its report, its partitions, and findings. */
import { COUNT_MAX } from '../../kernel/index.ts'
import type { Backlog, Instant } from '../../kernel/index.ts'
import type { Client } from '../../client/index.ts'
import { executionPartition } from '../../stores/store.ts'
import type { Partition, StoreReport, StoreSettings } from '../../stores/store.ts'
import { proveIndexes, repairIndexes } from './index-check.ts'
import type { IndexCheck } from './index-check.ts'
import { printable } from '../text/printable.ts'
import { durationText } from '../text/time-text.ts'

/** Workers and engines run due timers within a second, so a timer this late means that none is running. */
const DUE_LAG_MAX_MS = 30_000
/** A purge is not urgent, but should not stop. */
const PURGE_LAG_MAX_MS = 3_600_000
/** The most skew between the clocks of the store and of this machine. */
const CLOCK_SKEW_MAX_MS = 5_000
/** With more executions, checking the indexes in memory would take too long and too much memory. */
const PROOF_EXECUTIONS_MAX = 50_000
/** With more keys on the server, finding those of a partition would take too long. */
const PROOF_KEYS_MAX = 1_000_000
/** The most partitions that a finding names; the others are counted. */
const NAMED_PARTITIONS_MAX = 3

const BACKLOG_TEXTS = {
  due: 'due',
  purge: 'ended and past their retention',
  siblingCancels: 'decided groups with pending sibling cancels',
  flowCancels: 'cancelled flows with pending member cancels',
} as const

type BacklogName = keyof typeof BACKLOG_TEXTS

export interface Finding {
  readonly check:
    | 'configuration'
    | 'files'
    | 'level'
    | 'tables'
    | 'pooler'
    | 'store'
    | 'clock'
    | 'due'
    | 'purge'
    | 'flows'
    | 'indexes'
  readonly verdict: 'ok' | 'warning' | 'problem'
  readonly text: string
  /** The partitions that the finding concerns; empty for the store as a whole. */
  readonly partitions: readonly Partition[]
}

export interface PartitionDiagnosis {
  readonly partition: Partition
  /** Counting stops at `countLimit`. */
  readonly executions: number
  readonly flows: number
  readonly openWaitpoints: number
  readonly due: Backlog
  readonly purge: Backlog
  /** Decided groups with pending sibling cancels. */
  readonly siblingCancels: Backlog
  /** Cancelled flows with pending member cancels. */
  readonly flowCancels: Backlog
  readonly events: { readonly first: number; readonly last: number }
  /** Absent if the store is too large to be checked without --repair. */
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

interface Inspection extends Omit<PartitionDiagnosis, 'indexes'> {
  /** The time of the inspection, by the clock of the store and by that of this machine. */
  readonly at: Instant
  readonly machineAt: Instant
}

export async function diagnose(client: Client, options: { readonly repair: boolean }): Promise<Diagnosis> {
  const { store } = client
  const report = await client.report()
  const inspections: Inspection[] = []
  for (let number = 0; number < store.settings.executionPartitions; number++) {
    inspections.push(await inspect(client, executionPartition(number)))
  }
  const { at: storeAt = 0, machineAt = 0 } = inspections.at(-1) ?? {}
  const clock = { storeAt, machineAt, skewMs: storeAt - machineAt }
  const checkIndexes = indexCheckFor(client, report, inspections, options.repair)
  const partitions: PartitionDiagnosis[] = []
  for (const { at: _at, machineAt: _machineAt, ...inspection } of inspections) {
    partitions.push({ ...inspection, indexes: await checkIndexes(inspection.partition) })
  }
  const findings: Finding[] = [
    ...report.warnings.map((text): Finding => ({ check: 'store', verdict: 'warning', text, partitions: [] })),
    dueFinding(inspections),
    purgeFinding(inspections),
    flowFinding(inspections),
    indexFinding(partitions),
    clockFinding(clock.skewMs),
  ]
  const healthy = findings.every((finding) => finding.verdict !== 'problem')
  return { store: report, settings: store.settings, clock, countLimit: COUNT_MAX, partitions, findings, healthy }
}

async function inspect({ batcher, store, runtime }: Client, partition: Partition): Promise<Inspection> {
  const { result } = await batcher.run(partition, 'inspectPartition', { limit: COUNT_MAX })
  const machineAt = runtime.now()
  const { kind: _kind, ...standing } = result
  const { firstSequence, lastSequence } = await store.readEvents(partition, 0, 1)
  return { partition, machineAt, ...standing, events: { first: firstSequence, last: lastSequence } }
}

function indexCheckFor(
  { batcher, store }: Client,
  { keyCount = 0 }: StoreReport,
  inspections: readonly Inspection[],
  repair: boolean,
): (partition: Partition) => Promise<IndexCheck | undefined> {
  if (repair) return (partition) => repairIndexes(batcher, partition)
  const executions = inspections.reduce((sum, inspection) => sum + inspection.executions, 0)
  if (executions > PROOF_EXECUTIONS_MAX || keyCount > PROOF_KEYS_MAX) return async () => undefined
  return async (partition) => proveIndexes(await store.dump(partition))
}

function dueFinding(inspections: readonly Inspection[]): Finding {
  const late = lateOnes(inspections, 'due', DUE_LAG_MAX_MS)
  if (late.partitions.length === 0) return well('due', 'no timer is late')
  const text = `${late.text}. No engine or worker runs them: start one, for example with flowfabric dev.`
  return { check: 'due', verdict: 'problem', text, partitions: late.partitions }
}

function purgeFinding(inspections: readonly Inspection[]): Finding {
  const late = lateOnes(inspections, 'purge', PURGE_LAG_MAX_MS)
  if (late.partitions.length === 0) {
    const count = inspections.reduce((sum, { purge }) => sum + purge.count, 0)
    return well('purge', `${countText(count)} ${BACKLOG_TEXTS.purge}`)
  }
  const text = `${late.text}. An engine removes them.`
  return { check: 'purge', verdict: 'warning', text, partitions: late.partitions }
}

/** Pending cancels are due immediately: an old one means that no engine runs, or that it cannot process the flow. */
function flowFinding(inspections: readonly Inspection[]): Finding {
  const late = (['siblingCancels', 'flowCancels'] as const)
    .map((backlog) => lateOnes(inspections, backlog, DUE_LAG_MAX_MS))
    .filter(({ partitions }) => partitions.length > 0)
  if (late.length === 0) {
    const count = inspections.reduce((sum, { flows }) => sum + flows, 0)
    return well('flows', `${countText(count)} flows, no cancel is overdue`)
  }
  const partitions = [...new Set(late.flatMap((one) => one.partitions))]
  const text = `${late.map((one) => one.text).join('; ')}. An engine cancels them.`
  return { check: 'flows', verdict: 'problem', text, partitions }
}

/** The partitions with an overdue backlog, and a summary of them. */
function lateOnes(
  inspections: readonly Inspection[],
  backlog: BacklogName,
  lagMaxMs: number,
): { readonly partitions: readonly Partition[]; readonly text: string } {
  const late = inspections.filter((inspection) => lagOf(inspection[backlog], inspection.at) > lagMaxMs)
  const partitions = late.map(({ partition }) => partition)
  const count = late.reduce((sum, inspection) => sum + inspection[backlog].count, 0)
  const lagMs = Math.max(0, ...late.map((inspection) => lagOf(inspection[backlog], inspection.at)))
  return {
    partitions,
    text: `${partitionsText(partitions)}: ${countText(count)} ${BACKLOG_TEXTS[backlog]}, the oldest for ${durationText(lagMs)}`,
  }
}

function indexFinding(all: readonly PartitionDiagnosis[]): Finding {
  if (all.some(({ indexes }) => indexes === undefined)) {
    return well(
      'indexes',
      `not checked, there are more than ${PROOF_EXECUTIONS_MAX} executions or ${PROOF_KEYS_MAX} keys. Engines check as they run; --repair walks them all now.`,
    )
  }
  const wrong = all.filter(({ indexes }) => indexes !== undefined && indexes.problemCount > 0)
  if (wrong.length === 0) {
    const examined = all.reduce((sum, { indexes }) => sum + (indexes?.examined ?? 0), 0)
    return well('indexes', `${examined} entries agree with their records`)
  }
  const partitions = wrong.map(({ partition }) => partition)
  const count = wrong.reduce((sum, { indexes }) => sum + (indexes?.problemCount ?? 0), 0)
  const first = wrong[0]?.indexes?.problems[0]
  const example = first === undefined ? '' : ` (first: ${first.problem} of ${first.id} in ${printable(first.index)})`
  const where = partitionsText(partitions)
  return wrong[0]?.indexes?.kind === 'repaired'
    ? { check: 'indexes', verdict: 'warning', text: `${where}: ${count} entries repaired${example}`, partitions }
    : {
        check: 'indexes',
        verdict: 'problem',
        text: `${where}: ${count} entries are wrong${example}. Keep a copy of the store, report it, and run doctor --repair.`,
        partitions,
      }
}

function clockFinding(skewMs: number): Finding {
  const apart = `the store and this machine are ${durationText(Math.abs(skewMs))} apart`
  if (Math.abs(skewMs) <= CLOCK_SKEW_MAX_MS) return well('clock', apart)
  return { check: 'clock', verdict: 'warning', text: `${apart}: correct one of the clocks`, partitions: [] }
}

function well(check: Finding['check'], text: string): Finding {
  return { check, verdict: 'ok', text, partitions: [] }
}

function lagOf(backlog: Backlog, now: Instant): number {
  return backlog.oldestAt === undefined ? 0 : now - backlog.oldestAt
}

function partitionsText(partitions: readonly Partition[]): string {
  const named = partitions.slice(0, NAMED_PARTITIONS_MAX).join(', ')
  const others = partitions.length - NAMED_PARTITIONS_MAX
  return others > 0 ? `${named} and ${others} more` : named
}

function countText(count: number): string {
  return count >= COUNT_MAX ? `${COUNT_MAX} or more` : String(count)
}
