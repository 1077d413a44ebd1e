/** A failing world in words: what was broken, of what the world was made, and what happened to the executions concerned. */
import type { Execution } from '../../src/kernel/index.ts'
import { executionsOf } from '../conformance/execution-invariants.ts'
import { faultNames } from './config.ts'
import type { WorldConfig } from './config.ts'
import { shortId } from './network.ts'
import type { TraceLine } from './trace.ts'
import type { Body } from './witness.ts'
import type { World } from './world.ts'

const EXECUTION_ID = /\d+-[0-9a-f]{8}-[0-9a-f-]{27}/g
/** Lines of one history; what lies in the middle of a longer one is left out. */
const LINES_MAX = 120
/** Events that concern all executions. */
const COMMON = [
  'FAULT crash',
  'FAULT pause',
  'FAULT store_clock_jump',
  'FAULT graceful_stop',
  'FAULT outage',
  'the storm is over',
]

export function describeConfig(config: WorldConfig): string {
  const {
    seed,
    clients,
    workers,
    engines,
    areClientsWorkers,
    partitions,
    works,
    rates,
    deployAtMs,
    steps,
    leaseTtlMs,
    concurrency,
    prefetch,
  } = config
  const faults = faultNames.filter((name) => rates[name] > 0).map((name) => `${name} ${rates[name].toFixed(4)}`)
  return [
    `seed ${seed}, ${steps} steps, ${partitions} partitions, leases of ${leaseTtlMs} ms`,
    `${clients} clients${areClientsWorkers ? ' that work too' : ''}, ${workers} workers (concurrency ${concurrency}, prefetch ${prefetch}), ${engines} engines`,
    `work: ${works.map(({ number, kind }) => `${kind}:${number}`).join(', ')}`,
    ...(deployAtMs === undefined ? [] : [`a deploy from ${deployAtMs} ms on`]),
    `faults: ${faults.length === 0 ? 'none' : faults.join(', ')}`,
  ].join('\n')
}

/** Needs a world whose trace was kept. */
export function describeHistory(world: World, problems: readonly string[]): string {
  const named = new Set(problems.flatMap((problem) => problem.match(EXECUTION_ID) ?? []))
  const executions = world.network.dumps.flatMap((dump) => executionsOf(dump))
  for (const { id, key } of executions) {
    if (key !== undefined && problems.some((problem) => problem.split(' ').includes(key))) named.add(id)
  }
  return [...named].map((id) => historyOf(world, id, executions)).join('\n\n')
}

function historyOf(world: World, id: string, executions: readonly Execution[]): string {
  const execution = executions.find((one) => one.id === id)
  const bodies = world.witness.bodies.filter((body) => body.executionId === id)
  const concerned = world.trace.lines.filter(({ text }) => concerns(text, id))
  const lines = [...concerned, ...bodies.flatMap(linesOf)].sort((a, b) => a.atMs - b.atMs)
  const shown = lines.length <= LINES_MAX ? lines : [...lines.slice(0, LINES_MAX / 2), ...lines.slice(-LINES_MAX / 2)]
  return [
    `history of ${id}${execution === undefined ? ', which does not exist' : ` (${execution.task})`}:`,
    ...shown.map(({ atMs, text }) => `${(atMs / 1_000).toFixed(3).padStart(10)} s  ${text}`),
    ...(execution === undefined ? [] : [`  stands at ${JSON.stringify(execution.state)}, epoch ${execution.epoch}`]),
  ].join('\n')
}

function concerns(text: string, id: string): boolean {
  return text.includes(id) || text.includes(shortId(id)) || COMMON.some((start) => text.startsWith(start))
}

function linesOf(body: Body): TraceLine[] {
  const { number, process, attempt, answer, begunAt } = body
  const end = answer === undefined ? 'gave no answer' : 'gave its answer'
  return [{ atMs: begunAt, text: `${process}: body ${number} began with attempt ${attempt}, and ${end}` }]
}
