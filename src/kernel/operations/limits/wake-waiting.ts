/**
 * Names the partitions whose blocked work can use the permits of a limit that are free after a change of its definition. Called
 * by the process that made the change, key by key. Without the call, blocked work asks again when its gate opens.
 */
import { gaugeOf, limitNamed } from '../../lifecycle/limits/gauges.ts'
import { takeWakes } from '../../lifecycle/limits/wakes.ts'
import type { LimitWake } from '../../lifecycle/limits/wakes.ts'
import { LIMIT_WAKE_COUNT } from '../../limits.ts'
import { keysIndex } from '../../model/indexes.ts'
import type { Position } from '../../model/order.ts'
import type { Range, Tx } from '../../tx.ts'
import { usageScore } from '../../rules/limit-usage.ts'

export interface WakeWaitingInput {
  readonly name: string
  readonly cursor?: Position | undefined
}

export interface KeyWake extends LimitWake {
  readonly key: string
}

export interface WakeWaitingResult {
  readonly kind: 'waiting_woken'
  readonly wakes: KeyWake[]
  /** Where to continue: keys that are busy come first. */
  readonly cursor: Position | undefined
}

export function wakeWaiting(tx: Tx, input: WakeWaitingInput): WakeWaitingResult {
  const limit = limitNamed(tx, input.name)
  const range = waitingKeysRange(input)
  const gauges = limit === undefined ? [] : tx.scan(range, 'gauge')
  const last = gauges[gauges.length - 1]
  const cursor =
    gauges.length < range.limit || last === undefined ? undefined : { score: usageScore(last), id: last.id }
  const wakes: KeyWake[] = []
  for (const { key, waiting } of gauges) {
    if (limit === undefined || waiting === undefined) continue
    const gauge = gaugeOf(tx, limit, key)
    const found = takeWakes(limit, gauge, tx.now)
    if (found.length === 0) continue
    tx.put(gauge)
    for (const { partition, permits } of found) wakes.push({ key, partition, permits })
  }
  return { kind: 'waiting_woken', wakes, cursor }
}

export function waitingKeysRange({ name, cursor }: WakeWaitingInput): Range {
  return { index: keysIndex(name), from: cursor, limit: LIMIT_WAKE_COUNT }
}
