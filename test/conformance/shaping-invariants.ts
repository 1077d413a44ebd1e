/** What must be true of shaping keys, whatever was done: at most one execution of a line runs, and none waits for nothing. */
import { SHAPING_MERGED_MAX } from '../../src/kernel/index.ts'
import type { Execution, ShapingKey } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'
import { executionsOf } from './execution-invariants.ts'

export function shapingProblems(dump: PartitionDump): string[] {
  const keys = new Map<string, ShapingKey>()
  for (const record of dump.records) if (record.type === 'shaping_key') keys.set(record.id, record)
  const executions = executionsOf(dump).filter(({ shaping }) => shaping !== undefined)
  const problems: string[] = []
  for (const execution of executions) {
    const key = keys.get(execution.shaping?.id ?? '')
    for (const problem of executionProblems(execution, key)) problems.push(`execution ${execution.id}: ${problem}`)
  }
  for (const key of keys.values()) {
    const own = executions.filter(({ shaping }) => shaping?.id === key.id)
    for (const problem of keyProblems(key, own)) problems.push(`${key.kind} ${key.key}: ${problem}`)
  }
  return problems
}

function* executionProblems({ id, state, shaping, unwinding }: Execution, key: ShapingKey | undefined) {
  if (shaping?.place === undefined) {
    if (state.phase === 'blocked' && state.by === 'order') yield 'it waits in a line without a place'
    return
  }
  if (shaping.holdsBack === true && key?.current !== id) yield 'it holds back others, and it is not their turn'
  if (state.phase === 'ended') {
    if (key?.current === id && shaping.holdsBack !== true) yield 'it has ended and still has the turn'
    return
  }
  const isWaiting = state.phase === 'blocked' && state.by === 'order'
  if (key === undefined) yield 'its shaping key does not exist'
  else if (isWaiting && key.current === undefined) yield 'it waits, and no execution has the turn'
  else if (isWaiting === (key.current === id) && unwinding === undefined)
    yield 'it runs out of turn, or waits in its own'
}

function* keyProblems(key: ShapingKey, own: readonly Execution[]): Generator<string> {
  const { kind, current, until, removeAt, merged, lastPlace } = key
  const hasLine = kind === 'singleton' || kind === 'order'
  if (merged.length > SHAPING_MERGED_MAX) yield 'it remembers more submits than it may'
  if (!hasLine && (until === undefined || removeAt === undefined)) yield 'its window has no end'
  if (hasLine && (current === undefined) !== (removeAt !== undefined)) yield 'it is kept without use, or removed in use'
  const places = own.flatMap(({ state, shaping }) => (state.phase === 'ended' ? [] : [shaping?.place ?? 0]))
  if (hasLine && new Set(places).size !== places.length) yield 'a place was given twice'
  if (hasLine && places.some((place) => place > lastPlace)) yield 'a place was given that it does not know of'
}
