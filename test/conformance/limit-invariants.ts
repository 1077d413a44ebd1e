/** What must be true of limits: counters equal what they count, and everything that is held belongs to a key. */
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from './execution-invariants.ts'

const SEPARATOR = '\u001f'
const ENTRIES_MAX = 128

export function limitProblems(dump: PartitionDump): string[] {
  return [...usageProblems(dump), ...gateProblems(dump)]
}

/** What a limit blocks has a gate that will release it, and needs a permit of that limit. */
function gateProblems(dump: PartitionDump): string[] {
  const gates = new Set(dump.records.filter((record) => record.type === 'gate').map(({ id }) => id))
  return executionsOf(dump).flatMap(({ id, state, limits, passes }) => {
    const found: string[] = []
    const needed = (limits ?? []).map(({ limit, key }) => [limit, key].join(SEPARATOR))
    const gate = state.phase === 'blocked' ? state.gate : undefined
    const isBlocked = state.phase === 'blocked' && state.by === 'limit'
    if (isBlocked !== (gate !== undefined)) found.push(`${id} is blocked by a limit without a gate, or the reverse`)
    if (gate !== undefined && !gates.has(gate)) found.push(`${id} waits behind a gate that does not exist`)
    if (gate !== undefined && !needed.includes(gate)) found.push(`${id} waits for a limit that it does not need`)
    if (passes?.some((pass) => pass === gate || !needed.includes(pass)) === true) found.push(`${id} passes wrong gates`)
    if (passes !== undefined && state.phase === 'active') found.push(`${id} is active and has still passes`)
    return found
  })
}

function usageProblems({ records }: PartitionDump): string[] {
  const gauges = records.filter((record) => record.type === 'gauge')
  const holdings = records.filter((record) => record.type === 'holding')
  const idsOfGauges = new Set(gauges.map(({ id }) => id))
  const problems = holdings.flatMap((holding) => {
    const { id, limit, key, workerInstanceId, count } = holding
    const found: string[] = []
    if (id !== [limit, key, workerInstanceId].join(SEPARATOR)) found.push(`the holding ${id} has another id`)
    if (!idsOfGauges.has([limit, key].join(SEPARATOR))) found.push(`permits of ${limit} are held of no key`)
    if (count < 0) found.push(`a process holds ${count} permits of ${limit}`)
    return found
  })
  for (const { id, limit, key, heldCount, holderCount, window } of gauges) {
    const own = holdings.filter((holding) => holding.limit === limit && holding.key === key)
    const held = own.reduce((sum, { count }) => sum + count, 0)
    if (id !== [limit, key].join(SEPARATOR)) problems.push(`the gauge ${id} has another id`)
    if (held !== heldCount) problems.push(`${heldCount} permits of ${limit} are counted, ${held} are held`)
    if (own.length !== holderCount) problems.push(`${holderCount} holders of ${limit} are counted, not ${own.length}`)
    if (window.length > ENTRIES_MAX) problems.push(`the window of ${limit} has ${window.length} entries`)
    if (window.some(({ at, weight }, i) => weight <= 0 || (i > 0 && window[i - 1]!.at >= at))) {
      problems.push(`the window of ${limit} is out of order`)
    }
  }
  return problems
}
