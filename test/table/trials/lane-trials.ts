/** The settings of lanes: they change no execution. */
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { START_AT, step, submitWithoutPayload } from './world.ts'
import type { World } from './world.ts'

const LANE = submitWithoutPayload('lane').lane

function pause(world: World): void {
  step(world, 0, { operation: 'configureLane', input: { lane: LANE, state: 'paused', by: 'bob' } })
}

const LIMIT = { rate: { count: 10, windowMs: 1_000 }, concurrency: 2 }

function limit(world: World): void {
  step(world, 0, { operation: 'configureLane', input: { lane: LANE, limit: LIMIT, by: 'bob' } })
}

function trial(manner: string, call: Pick<Trial, 'operation' | 'input'>, prepare?: (world: World) => void): Trial {
  return { ...call, manner, atMs: SOON_MS, blobs: [], about: 'registry', prepare } as Trial
}

const copy = {
  type: 'lane',
  id: LANE,
  version: 1,
  hold: { state: 'paused', at: START_AT, by: 'bob', reason: undefined },
  tasks: [],
  weight: undefined,
  changedAt: START_AT,
  isCopying: true,
  limit: undefined,
} as const

export const laneTrials: readonly Trial[] = [
  trial('paused', { operation: 'configureLane', input: { lane: LANE, state: 'paused', by: 'bob' } }),
  trial('a task', { operation: 'configureLane', input: { lane: LANE, task: 'report', state: 'draining', by: 'bob' } }),
  trial('weighed', { operation: 'configureLane', input: { lane: LANE, weight: 2, by: 'bob' } }),
  trial('limited', { operation: 'configureLane', input: { lane: LANE, limit: LIMIT, by: 'bob' } }),
  trial('of no limit', { operation: 'configureLane', input: { lane: LANE, limit: 'none', by: 'bob' } }, limit),
  trial('resumed', { operation: 'configureLane', input: { lane: LANE, state: 'active', by: 'bob' } }, pause),
  trial('', { operation: 'applyLane', input: { lane: copy } }),
  trial('', { operation: 'confirmLane', input: { lane: LANE, version: 1 } }, pause),
  trial('of another version', { operation: 'confirmLane', input: { lane: LANE, version: 2 } }, pause),
  trial('', { operation: 'listLanes', input: {} }, pause),
]
